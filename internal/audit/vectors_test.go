package audit

import (
	"encoding/hex"
	"encoding/json"
	"math"
	"os"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/mathext"
)

type groupVector struct {
	Design         Design
	M, PPM, K      int
	Audited        bool
	Missing        json.RawMessage
	Networks       []int
	Piloted, Clean int
	missingCount   int
	missingFlag    bool
}

// parse reads missing, which is a flag for group coins and a count for member coins.
func (g *groupVector) parse(t *testing.T) {
	t.Helper()
	switch text := string(g.Missing); text {
	case "", "false":
	case "true":
		g.missingFlag = true
	default:
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatalf("missing: %q", text)
		}
		g.missingCount = n
	}
}

func (g groupVector) group(t *testing.T) Group {
	g.parse(t)
	return Group{Design: g.Design, Passing: g.M, Probability: Probability(g.PPM), Audited: g.Audited, Flips: g.K, Missing: g.missingFlag,
		Networks: g.Networks, Piloted: g.Piloted, MissingMembers: g.missingCount}
}

func (g groupVector) event(t *testing.T) Event {
	g.parse(t)
	missing := g.missingCount
	if g.missingFlag {
		missing = 1
	}
	return Event{Design: g.Design, Passing: g.M, Probability: Probability(g.PPM), Audited: g.Audited, Flips: g.K, Networks: g.Networks, Clean: g.Clean, Missing: missing}
}

type vectors struct {
	Coin struct {
		KeyHex     string `json:"key_hex"`
		Commitment string
		Cases      []struct {
			Repo, Group, Member, U64 string
			Window, Micro            int
			Heads                    map[string]bool
		}
	}
	Special struct {
		Betainc        [][4]float64
		BetaPPF        [][4]float64 `json:"beta_ppf"`
		TPPF           [][3]float64 `json:"t_ppf"`
		ClopperPearson [][4]float64 `json:"clopper_pearson_95"`
	}
	Estimate []struct {
		Design Design
		Groups []groupVector
		Expect map[string]*float64
	}
	StreamUpper []struct {
		Name     string
		PMinPPM  int `json:"p_min_ppm"`
		UMax     int `json:"u_max"`
		Alpha    float64
		Events   []groupVector
		Expected []struct {
			T          int
			UpperFlips float64 `json:"upper_flips"`
			UpperRate  float64 `json:"upper_rate"`
			Raw        float64
		} `json:"expect"`
	} `json:"stream_upper"`
	Allocate []struct {
		V, C         []float64
		Budget, PMin float64
		P            []float64
		Kappa        float64
	}
	Rewards []struct {
		Cheap, Flip               []int
		Weight, Reward, Advantage []float64
	}
	DebiasedFlag [][4]float64 `json:"debiased_flag"`
}

func readVectors(t *testing.T) vectors {
	t.Helper()
	content, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var v vectors
	if err := json.Unmarshal(content, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// near fails unless got is within a relative tolerance of want.
func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance*math.Abs(want)) && got != want {
		t.Errorf("%s: got %.17g, want %.17g", what, got, want)
	}
}

func TestVectorsCoin(t *testing.T) {
	v := readVectors(t).Coin
	key, err := ParseKey(v.KeyHex)
	if err != nil {
		t.Fatal(err)
	}
	if key.Commitment() != v.Commitment {
		t.Errorf("commitment %s, want %s", key.Commitment(), v.Commitment)
	}
	if len(v.Cases) == 0 {
		t.Fatal("no cases")
	}
	for _, c := range v.Cases {
		for ppm, heads := range c.Heads {
			p, err := strconv.Atoi(ppm)
			if err != nil {
				t.Fatal(err)
			}
			d := key.Draw(Coin{c.Repo, c.Group, c.Member, c.Window}, Probability(p))
			if strconv.FormatUint(d.U64, 10) != c.U64 || d.Micro != c.Micro || d.Heads != heads {
				t.Errorf("%+v at %s: got %d %d %v", c, ppm, d.U64, d.Micro, d.Heads)
			}
		}
	}
}

func TestVectorsSpecial(t *testing.T) {
	v := readVectors(t).Special
	for _, c := range v.Betainc {
		near(t, "betainc", mathext.RegIncBeta(c[0], c[1], c[2]), c[3], 1e-9)
	}
	for _, c := range v.BetaPPF {
		near(t, "beta quantile", betaQuantile(c[0], c[1], c[2]), c[3], 1e-9)
	}
	for _, c := range v.TPPF {
		near(t, "t quantile", tQuantile(c[0], c[1]), c[2], 1e-9)
	}
	for _, c := range v.ClopperPearson {
		lo, hi := ClopperPearson(c[0], c[1], 0.95)
		near(t, "Clopper-Pearson low", lo, c[2], 1e-9)
		near(t, "Clopper-Pearson high", hi, c[3], 1e-9)
	}
}

func TestVectorsEstimate(t *testing.T) {
	all := readVectors(t).Estimate
	if len(all) != 4 {
		t.Fatalf("%d estimates", len(all))
	}
	for _, c := range all {
		var groups []Group
		for _, g := range c.Groups {
			g.Design = c.Design
			groups = append(groups, g.group(t))
		}
		e := EstimateRate(groups, 0.95)
		got := map[string]float64{"G": float64(e.Groups), "M": float64(e.Passing), "flips_ht": e.Flips, "rate_ht": e.Rate, "rate_ht_missing_lo": e.RateMissing.Low,
			"rate_ht_missing_hi": e.RateMissing.High, "se_design": e.SEDesign, "rate_hajek": e.Hajek, "se_cluster": e.SECluster, "se_hajek": e.SEHajek,
			"n_eff": e.Size, "kg_lo": e.Interval.Low, "kg_hi": e.Interval.High}
		for name, want := range c.Expect {
			tolerance := 1e-9
			if name == "kg_lo" || name == "kg_hi" {
				tolerance = 1e-7
			}
			if _, ok := got[name]; !ok {
				t.Errorf("nothing computed for %s", name)
			} else if want == nil {
				t.Errorf("%s is null", name)
			} else {
				near(t, string(c.Design)+" "+name, got[name], *want, tolerance)
			}
		}
	}
}

func TestVectorsBound(t *testing.T) {
	all := readVectors(t).StreamUpper
	if len(all) != 5 {
		t.Fatalf("%d streams", len(all))
	}
	for _, c := range all {
		b, err := NewBound(Probability(c.PMinPPM), c.UMax, c.Alpha)
		if err != nil {
			t.Fatal(err)
		}
		next := 0
		for i, e := range c.Events {
			upper, err := b.Add(e.event(t))
			if err != nil {
				t.Fatal(err)
			}
			if next < len(c.Expected) && c.Expected[next].T == i+1 {
				want := c.Expected[next]
				near(t, c.Name+": flips", upper, want.UpperFlips, 1e-9)
				near(t, c.Name+": rate", b.Rate(), want.UpperRate, 1e-9)
				if want.Raw < 1e300 || !math.IsInf(b.raw, 1) {
					near(t, c.Name+": raw", b.raw, want.Raw, 1e-9)
				}
				next++
			}
		}
		if next != len(c.Expected) {
			t.Errorf("%s: %d of %d points compared", c.Name, next, len(c.Expected))
		}
	}
}

func TestVectorsAllocate(t *testing.T) {
	for i, c := range readVectors(t).Allocate {
		got, err := Allocate(c.V, c.C, c.Budget, c.PMin)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "kappa "+strconv.Itoa(i), got.Scale, c.Kappa, 1e-9)
		for j := range c.P {
			near(t, "p "+strconv.Itoa(i), got.Rates[j], c.P[j], 1e-9)
		}
	}
}

func TestVectorsRewards(t *testing.T) {
	flags := func(numbers []int) []bool {
		list := make([]bool, len(numbers))
		for i, n := range numbers {
			list[i] = n == 1
		}
		return list
	}
	for _, c := range readVectors(t).Rewards {
		reward, advantage := Rewards(flags(c.Cheap), flags(c.Flip), c.Weight)
		for i := range reward {
			near(t, "reward", reward[i], c.Reward[i], 1e-9)
			near(t, "advantage", advantage[i], c.Advantage[i], 1e-9)
		}
	}
	for _, c := range readVectors(t).DebiasedFlag {
		near(t, "debiased", Debiased(c[0], c[1], c[2]), c[3], 1e-9)
	}
}

func TestKeyIsHex(t *testing.T) {
	for _, text := range []string{"", "abc", "not hexadecimal at all, not hexadecimal", hex.EncodeToString(make([]byte, MinKey-1))} {
		if _, err := ParseKey(text); err == nil {
			t.Errorf("%q was taken as a key", text)
		}
	}
}
