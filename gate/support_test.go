package gate

import "testing"

func TestStandsIn(t *testing.T) {
	before := []string{
		`    monkeypatch.setattr(net, "get", lambda url: "fake")`,
		`    monkeypatch.setattr(net, "ok", lambda: True)`,
		`    mocker.patch("net.post", return_value=Answer(200))`,
		`jest.spyOn(net, "read").mockReturnValue("text");`,
		`net.dial = fakeDial`,
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
		`net.open = fakeDial`: true,
		`net.open = fakeOpen`: false,
		`    monkeypatch.setattr(net, "fetch", lambda url: "other")`: false, // base replaces nothing by it
	} {
		if got := standsIn(before, line); got != want {
			t.Errorf("%q: %v, want %v (%q)", line, got, want, fakeOf(line))
		}
	}
}
