// Package dotnet runs tests of .NET in C# by `dotnet test`: xUnit, NUnit and MSTest,
// by the trx reports that VSTest writes.
//
// Units are C# sources with tests. Rows are read off them without a run,
// "Namespace.Class.Method"; what a run makes of one (theories, test cases, data
// rows) are its parts. Each test project is built and run by one command. Test
// code that does not compile is taken out where the compiler says, and the rest
// built again.
//
// Invariants: nothing that was built before is used, since MSBuild goes by file
// times; a test that was asked for and is in no report is never green.
//
// Non-goals: F# and Visual Basic; evaluating MSBuild's logic; projects that run
// by Microsoft.Testing.Platform alone.
//
// Source: reports that were recorded by public projects (testdata/README.md).
package dotnet
