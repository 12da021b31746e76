// Package phpunit runs PHPUnit, one process for each test file, and reads its
// JUnit report; which test was running when a process died is known by its
// TeamCity log.
//
// Units are test files. Rows are read off them without a run, "Class::method";
// the data sets of one are its parts.
//
// Non-goals: Pest, Codeception, .phpt files; the groups of a configuration.
package phpunit
