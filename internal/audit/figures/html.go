package figures

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"
	"sync"

	"github.com/touchstone-gate/touchstone/internal/audit"
)

//go:embed page.html
var pageText string

// page escapes every text for its place.
var page = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{"cells": cells, "plain": plain}).Parse(pageText))
})

func writeHTML(w io.Writer, s audit.Summary) error {
	return page().Execute(w, map[string]any{"Words": words, "Lines": htmlLines(s), "Tables": tables(s), "Stream": streamPlot(s), "Trend": trendPlot(s)})
}

type htmlLine struct{ Name, Value, Means, Not string }

func htmlLines(s audit.Summary) []htmlLine {
	var list []htmlLine
	for _, l := range lines(s) {
		list = append(list, htmlLine{l.name, l.value, l.means, l.not})
	}
	return list
}

// Title and the like are what the template reads of a table.
func (t table) Title() string       { return t.title }
func (t table) Not() string         { return t.not }
func (t table) Parts() []audit.Part { return t.parts }
func (t table) Header() []string    { return t.header() }

// The plots' area in pixels.
const (
	plotWidth, plotHeight         = 760.0, 270.0
	plotLeft, plotTop, plotBottom = 56.0, 12.0, 30.0
)

// plot is an SVG drawing in the template's terms.
type plot struct {
	Width, Height float64
	Lines         []polyline
	Bars          []bar
	Ticks         []tick
	Grid          []float64 // heights of the lines behind the ticks
	Left, Right   float64
	Words         string // for those who do not see it
}

type polyline struct{ Class, Points string }
type bar struct {
	X, Y, Width, Height float64
	Label               string
}
type tick struct {
	X, Y  float64
	Label string
	Place string // start, middle or end of the label is at X
}

func yOf(share, top float64) float64 {
	return plotTop + (plotHeight-plotTop-plotBottom)*(1-min(share, top)/top)
}

// scale finds a round top of at least x, which is above 0.
func scale(x float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(x)))
	for _, step := range []float64{1, 2, 5, 10} {
		if x <= step*unit {
			return step * unit
		}
	}
	return x
}

func newPlot(top float64, words string) *plot {
	p := &plot{Width: plotWidth, Height: plotHeight, Left: plotLeft, Right: plotWidth - 10, Words: words}
	for i := range 5 {
		share := top * float64(i) / 4
		p.Grid = append(p.Grid, yOf(share, top))
		p.Ticks = append(p.Ticks, tick{plotLeft - 6, yOf(share, top) + 4, fmt.Sprintf("%.3g %%", 100*share), "end"})
	}
	return p
}

// streamPlot draws bound and estimate over the passing attempts. The start, where
// the bound is near everything, is cut at four times its end.
func streamPlot(s audit.Summary) *plot {
	if len(s.Series) < 2 {
		return nil
	}
	last := s.Series[len(s.Series)-1]
	top := scale(min(1, max(4*last.Upper, 0.01)))
	p := newPlot(top, fmt.Sprintf("After %d passing attempts: at most %s, estimated %s", last.Passing, percentOf(last.Upper), percentOf(last.Rate)))
	x := func(passing int) float64 {
		return plotLeft + (plotWidth-plotLeft-10)*float64(passing)/float64(last.Passing)
	}
	var upper, rate strings.Builder
	for i, point := range s.Series {
		if i+1 < len(s.Series) && point.Upper > top && s.Series[i+1].Upper > top {
			upper.Reset() // it comes into the drawing later
			continue
		}
		fmt.Fprintf(&upper, "%.1f,%.1f ", x(point.Passing), yOf(point.Upper, top))
	}
	for _, point := range s.Series {
		fmt.Fprintf(&rate, "%.1f,%.1f ", x(point.Passing), yOf(point.Rate, top))
	}
	p.Lines = []polyline{{"upper", upper.String()}, {"rate", rate.String()}}
	for i := range 5 {
		passing := last.Passing * i / 4
		p.Ticks = append(p.Ticks, tick{x(passing), plotHeight - 8, fmt.Sprint(passing), []string{"start", "middle", "middle", "middle", "end"}[i]})
	}
	return p
}

// trendPlot draws the estimated rate by calendar period.
func trendPlot(s audit.Summary) *plot {
	parts := s.Trend[max(0, len(s.Trend)-36):]
	highest := 0.0
	for _, part := range parts {
		if part.Rate != nil {
			highest = max(highest, *part.Rate)
		}
	}
	if len(parts) < 2 || highest == 0 {
		return nil
	}
	top := scale(highest)
	p := newPlot(top, "Estimated flips per passing attempt by period; the table Trend has the numbers")
	step := (plotWidth - plotLeft - 10) / float64(len(parts))
	for i, part := range parts {
		x := plotLeft + step*float64(i)
		if part.Rate != nil {
			y := yOf(*part.Rate, top)
			p.Bars = append(p.Bars, bar{x + step*0.15, y, max(step*0.7, 1), plotHeight - plotBottom - y, fmt.Sprintf("%s: %s of %d", part.Name, percent(part.Rate), part.Passing)})
		}
		if every := (len(parts) + 11) / 12; i%every == 0 {
			p.Ticks = append(p.Ticks, tick{x + step/2, plotHeight - 8, part.Name, "middle"})
		}
	}
	return p
}
