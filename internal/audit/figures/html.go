package figures

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"

	"github.com/touchstone-gate/touchstone/internal/audit"
)

//go:embed page.html
var pageText string

// page escapes every text for its place.
var page = template.Must(template.New("page").Funcs(template.FuncMap{"cells": cells, "plain": plain}).Parse(pageText))

func writeHTML(w io.Writer, s audit.Summary) error {
	return page.Execute(w, map[string]any{"Lines": htmlLines(s), "Tables": tables(s), "Stream": streamPlot(s), "Trend": trendPlot(s)})
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
func (t table) Rates() bool         { return t.rates }

// The plots' area in pixels.
const (
	plotWidth, plotHeight = 760.0, 260.0
	plotLeft, plotBottom  = 50.0, 30.0
)

// plot is an SVG drawing in the template's terms.
type plot struct {
	Width, Height float64
	Lines         []polyline
	Bars          []bar
	Ticks         []tick
}

type polyline struct{ Class, Points string }
type bar struct {
	X, Y, Width, Height float64
	Label               string
}
type tick struct {
	X, Y  float64
	Label string
	Left  bool
}

func yOf(share, top float64) float64 {
	return (plotHeight - plotBottom) * (1 - min(share, top)/top)
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

func yTicks(top float64) []tick {
	var ticks []tick
	for i := range 5 {
		share := top * float64(i) / 4
		ticks = append(ticks, tick{plotLeft - 6, yOf(share, top) + 4, fmt.Sprintf("%.3g %%", 100*share), true})
	}
	return ticks
}

// streamPlot draws bound and estimate over the passing attempts. The start, where
// the bound is near everything, is cut at four times its end.
func streamPlot(s audit.Summary) *plot {
	if len(s.Series) < 2 {
		return nil
	}
	last := s.Series[len(s.Series)-1]
	top := scale(min(1, max(4*last.Upper, 0.01)))
	p := &plot{Width: plotWidth, Height: plotHeight, Ticks: yTicks(top)}
	x := func(passing int) float64 {
		return plotLeft + (plotWidth-plotLeft-10)*float64(passing)/float64(last.Passing)
	}
	var upper, rate strings.Builder
	for _, point := range s.Series {
		fmt.Fprintf(&upper, "%.1f,%.1f ", x(point.Passing), yOf(point.Upper, top))
		fmt.Fprintf(&rate, "%.1f,%.1f ", x(point.Passing), yOf(point.Rate, top))
	}
	p.Lines = []polyline{{"upper", upper.String()}, {"rate", rate.String()}}
	for i := 1; i <= 4; i++ {
		passing := last.Passing * i / 4
		p.Ticks = append(p.Ticks, tick{x(passing), plotHeight - 8, fmt.Sprint(passing), i == 4})
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
	p := &plot{Width: plotWidth, Height: plotHeight, Ticks: yTicks(top)}
	step := (plotWidth - plotLeft - 10) / float64(len(parts))
	for i, part := range parts {
		x := plotLeft + step*float64(i)
		if part.Rate != nil {
			y := yOf(*part.Rate, top)
			p.Bars = append(p.Bars, bar{x + 1, y, max(step-2, 1), plotHeight - plotBottom - y, fmt.Sprintf("%s: %s of %d", part.Name, percent(part.Rate), part.Passing)})
		}
		if i == 0 || i == len(parts)-1 {
			p.Ticks = append(p.Ticks, tick{x, plotHeight - 8, part.Name, i > 0})
		}
	}
	return p
}
