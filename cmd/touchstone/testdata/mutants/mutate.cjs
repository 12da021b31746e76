// Prints every small change of meaning of a JavaScript or TypeScript file, as JSON lines:
//
//     node mutate.cjs FILE
//     node mutate.cjs --check FILE...
//
// Each line: {"operator", "line", "start", "end", "text"}: bytes start..end of the file become text. Not all of them
// parse: --check exits with 1 where a file has an error of syntax. Types, names of modules and directives are left
// alone. The parser is TypeScript's, found through NODE_PATH.
"use strict";
const fs = require("node:fs");
const ts = require("typescript");

const kind = ts.SyntaxKind;
const SWAPS = new Map([
  [kind.LessThanToken, "<="], [kind.LessThanEqualsToken, "<"], [kind.GreaterThanToken, ">="], [kind.GreaterThanEqualsToken, ">"],
  [kind.EqualsEqualsToken, "!="], [kind.ExclamationEqualsToken, "=="], [kind.EqualsEqualsEqualsToken, "!=="], [kind.ExclamationEqualsEqualsToken, "==="],
  [kind.AmpersandAmpersandToken, "||"], [kind.BarBarToken, "&&"], [kind.QuestionQuestionToken, "&&"],
  [kind.PlusToken, "-"], [kind.MinusToken, "+"], [kind.AsteriskToken, "+"], [kind.SlashToken, "*"], [kind.PercentToken, "+"],
]);

function parse(file) {
  const text = fs.readFileSync(file, "utf8");
  return ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
}

function mutants(source) {
  const text = source.text;
  const byte = (position) => Buffer.byteLength(text.slice(0, position));
  const put = (operator, start, end, to) => console.log(JSON.stringify({
    operator, line: source.getLineAndCharacterOfPosition(start).line + 1, start: byte(start), end: byte(end), text: to,
  }));
  const over = (operator, node, to) => put(operator, node.getStart(), node.getEnd(), to);
  const negate = (condition) => over("condition", condition, `!(${condition.getText()})`);
  const visit = (node) => {
    if (ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node) || ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return;
    if (ts.isCallExpression(node) && (node.expression.kind === kind.ImportKeyword || node.expression.getText() === "require")) return;
    if (ts.isBinaryExpression(node) && SWAPS.has(node.operatorToken.kind)) over("operator", node.operatorToken, SWAPS.get(node.operatorToken.kind));
    else if (ts.isNumericLiteral(node)) over("constant", node, String(Number(node.text) + 1));
    else if (ts.isStringLiteral(node) && !ts.isJsxAttribute(node.parent)) over("constant", node, JSON.stringify(node.text + "_"));
    else if (node.kind === kind.TrueKeyword) over("constant", node, "false");
    else if (node.kind === kind.FalseKeyword) over("constant", node, "true");
    else if (ts.isIfStatement(node) || ts.isWhileStatement(node)) negate(node.expression);
    else if (ts.isConditionalExpression(node)) negate(node.condition);
    else if (ts.isExpressionStatement(node)) {
      if (ts.isStringLiteral(node.expression)) return; // "use strict"
      over("deletion", node, ";");
    } else if (ts.isReturnStatement(node) && node.expression) over("return", node.expression, node.expression.kind === kind.NullKeyword ? "0" : "null");
    else if (ts.isParameter(node) && node.initializer && ts.isLiteralExpression(node.initializer)) over("default", node.initializer, "undefined");
    ts.forEachChild(node, visit);
  };
  visit(source);
}

const [first, ...rest] = process.argv.slice(2);
if (first === "--check") process.exitCode = rest.some((file) => parse(file).parseDiagnostics.length > 0) ? 1 : 0;
else mutants(parse(first));
