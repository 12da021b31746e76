package gate

import "testing"

func TestStandsIn(t *testing.T) {
	before := []string{
		`    monkeypatch.setattr(net, "get", lambda url: "fake")`,
		`    monkeypatch.setattr(net, "ok", lambda: True)`,
		`    mocker.patch("net.post", return_value=Answer(200))`,
		`jest.spyOn(net, "read").mockReturnValue("text");`,
		`net.dial = fakeDial`,
		`    monkeypatch.setattr(net, "void", lambda url: None)`,
		`    mocker.patch("net.any", Mock())`,
		`net.size = (text) => measure(text);`,
		`    x = "other"`,
	}
	for line, want := range map[string]bool{
		`    monkeypatch.setattr(net, "fetch", lambda url, tries=1: "fake")`:   true,
		`    monkeypatch.setattr(net, "fetch", lambda url, tries=1: "better")`: false,
		`    monkeypatch.setattr(net, "valid", lambda: True)`:                  false, // says too little
		`    mocker.patch("net.send", return_value=Answer(200))`:               true,
		`    mocker.patch("net.send", return_value=Answer(201))`:               false,
		`jest.spyOn(net, "load").mockReturnValue("text");`:                     true,
		`jest.spyOn(net, "load").mockReturnValue("other");`:                    false,
		`net.open = fakeDial`:                                                 true,
		`net.open = fakeOpen`:                                                 false,
		`net.length = (text, tries) => measure(text);`:                        true,
		`net.length = (text) => compute(text);`:                               false,
		`    monkeypatch.setattr(net, "empty", lambda url: None)`:             false, // says too little
		`    mocker.patch("net.other", Mock())`:                               false,
		`    monkeypatch.setattr(net, "parse", lambda s: rightly(s, "fake"))`: false, // the last word is not all of the fake
		`    monkeypatch.setattr(net, "parse", rightly); monkeypatch.setattr(net, "fetch", lambda url: "fake")`:   false, // two at once
		`    monkeypatch.setattr(net, "parse", lambda s: {1: 2, 3: "fake"})`:                                      false,
		`    monkeypatch.setattr(net, "fetch", lambda url, x=monkeypatch.setattr(net, "parse", rightly): "fake")`: false,
		`    monkeypatch.setattr(net, "fetch", lambda url: "other")`:                                              false, // base replaces nothing by it
	} {
		if got := standsIn(before, line); got != want {
			t.Errorf("%q: %v, want %v (%q)", line, got, want, fakeOf(line))
		}
	}
}
