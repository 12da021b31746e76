package figures

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/touchstone-gate/touchstone/internal/audit"
)

// Formats are what Write can write.
func Formats() []string { return []string{"text", "markdown", "json", "html"} }

// Write writes a summary in one of the Formats.
func Write(w io.Writer, format string, s audit.Summary) error {
	switch format {
	case "text":
		return writeText(w, s)
	case "markdown":
		return writeMarkdown(w, s)
	case "json":
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "  ")
		return encoder.Encode(s)
	case "html":
		return writeHTML(w, s)
	}
	return fmt.Errorf("%q is not one of %s", format, strings.Join(Formats(), ", "))
}
