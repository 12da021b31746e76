// The first setup file of every worker of vitest: what a test file does is
// handed over when its tests are over.
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const { take } = require('./trace.cjs');
const { afterAll } = await import(require('./channel.cjs').settings.vitest);
afterAll(() => take());
