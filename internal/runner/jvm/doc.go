// Package jvm runs tests of Java and Kotlin by Maven (Surefire, Failsafe) and Gradle: JUnit 3,
// 4 and 5, TestNG, and whatever else writes their reports.
//
// Units are test sources. Rows are read off them without a run, "package.Class#method";
// what a run makes of one (parameters, repetitions) are its parts. A run is one
// call of the build tool, offline; its XML reports are read. Test code that does
// not compile is taken out where the compiler says, and the rest built again.
//
// Invariants: nothing is used that was built of other sources, since Maven goes by file
// times; a class that was asked for and left no report is never green.
//
// Non-goals: running the build's logic to find tests; Android.
package jvm
