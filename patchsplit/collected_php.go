package patchsplit

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
)

// readPHPUnit takes the directories and files of phpunit's test suites.
func readPHPUnit(_ string, data []byte) *collection {
	type suite struct {
		Directories []struct {
			Suffix string `xml:"suffix,attr"`
			Path   string `xml:",chardata"`
		} `xml:"directory"`
		Files   []string `xml:"file"`
		Exclude []string `xml:"exclude"`
	}
	var doc struct {
		Bootstrap string  `xml:"bootstrap,attr"`
		Suites    []suite `xml:"testsuites>testsuite"`
		Single    []suite `xml:"testsuite"`
	}
	if xml.Unmarshal(data, &doc) != nil {
		return nil
	}
	k := &collection{}
	for _, s := range append(doc.Suites, doc.Single...) {
		for _, dir := range s.Directories {
			if place := strings.Trim(strings.TrimPrefix(strings.TrimSpace(dir.Path), "./"), "/"); place != "" && place != "." {
				suffix := "Test.php"
				if dir.Suffix != "" {
					suffix = dir.Suffix
				}
				k.add("phpunit", []string{place + "/**/*" + suffix})
			}
		}
		for _, file := range s.Files {
			k.add("phpunit", []string{strings.TrimSpace(file)})
		}
	}
	if strings.Contains(doc.Bootstrap, "test") {
		k.add("phpunit", nil, []string{doc.Bootstrap})
	}
	return k.orNone()
}

// phpProduct is the rule for classes that are merely named like tests: composer
// loads them for users, and phpunit's configuration collects others.
func (c *Classifier) phpProduct(path string) Decision {
	if extOf(path) != ".php" || namedAsTest(path).Part != Test && c.testDirectory(path).Part != Test {
		return Decision{}
	}
	for dir := range ancestors(path) {
		file := joinDir(dir, "composer.json")
		if !c.base.has(file) {
			continue
		}
		configured := slices.ContainsFunc(c.collections(dir), func(k *collection) bool { return k.framework == "phpunit" && len(k.patterns) > 0 })
		rel, _ := relTo(dir, path)
		if home := autoloaded(c.base.content(file), rel); configured && home != "" {
			return Decision{Part: Production, Why: fmt.Sprintf("composer loads %s for users, and phpunit does not collect it", joinDir(dir, home))}
		}
		break
	}
	return Decision{}
}

// autoloaded returns the directory by which composer loads a file for users, ""
// when only for development or not at all. A package that is its own root says
// nothing about directories.
func autoloaded(data []byte, rel string) string {
	type loading struct {
		PSR4     map[string]wordsOrOne `json:"psr-4"`
		PSR0     map[string]wordsOrOne `json:"psr-0"`
		Classmap []string              `json:"classmap"`
	}
	var doc struct {
		Autoload loading `json:"autoload"`
		Dev      loading `json:"autoload-dev"`
	}
	if json.Unmarshal(data, &doc) != nil {
		return ""
	}
	longest := func(l loading) string {
		best := ""
		dirs := l.Classmap
		for _, roots := range []map[string]wordsOrOne{l.PSR4, l.PSR0} {
			for _, list := range roots {
				dirs = append(dirs, list...)
			}
		}
		for _, dir := range dirs {
			dir = strings.Trim(strings.TrimPrefix(dir, "./"), "/")
			if strings.HasPrefix(rel, dir+"/") && len(dir) > len(best) {
				best = dir
			}
		}
		return best
	}
	if home := longest(doc.Autoload); len(home) > len(longest(doc.Dev)) {
		return home
	}
	return ""
}
