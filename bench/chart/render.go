// Renders a chart as Helm does: Go's text/template with sprig, include, toYaml, required and fail. Prints the documents.
//
// usage: render CHART_FOLDER RELEASE VALUES_FILE
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"github.com/ghodss/yaml"
)

func read(path string, target any) {
	bytes, err := os.ReadFile(path)
	if err == nil {
		err = yaml.Unmarshal(bytes, target)
	}
	exitOn(err)
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// Maps of the given values are merged into the defaults, as by Helm. Other values replace them.
func merge(defaults, given map[string]any) map[string]any {
	for name, value := range given {
		inner, isMap := value.(map[string]any)
		before, wasMap := defaults[name].(map[string]any)
		if isMap && wasMap {
			defaults[name] = merge(before, inner)
		} else {
			defaults[name] = value
		}
	}
	return defaults
}

func main() {
	folder, release := os.Args[1], os.Args[2]
	var chart struct{ Name, Version, AppVersion string }
	values, given := map[string]any{}, map[string]any{}
	read(filepath.Join(folder, "Chart.yaml"), &chart)
	read(filepath.Join(folder, "values.yaml"), &values)
	read(os.Args[3], &given)

	templates := template.New("chart").Option("missingkey=zero").Funcs(sprig.TxtFuncMap())
	templates.Funcs(template.FuncMap{
		"include": func(name string, data any) (string, error) {
			var text strings.Builder
			err := templates.ExecuteTemplate(&text, name, data)
			return text.String(), err
		},
		"toYaml": func(value any) (string, error) {
			bytes, err := yaml.Marshal(value)
			return strings.TrimSuffix(string(bytes), "\n"), err
		},
		"required": func(sentence string, value any) (any, error) {
			if value == nil || value == "" {
				return nil, errors.New(sentence)
			}
			return value, nil
		},
		"fail": func(sentence string) (string, error) { return "", errors.New(sentence) },
	})
	files, err := filepath.Glob(filepath.Join(folder, "templates", "*"))
	exitOn(err)
	for _, file := range files {
		bytes, err := os.ReadFile(file)
		exitOn(err)
		_, err = templates.New(filepath.Base(file)).Parse(string(bytes))
		exitOn(err)
	}
	data := map[string]any{
		"Values":  merge(values, given),
		"Chart":   map[string]any{"Name": chart.Name, "Version": chart.Version, "AppVersion": chart.AppVersion},
		"Release": map[string]any{"Name": release, "Namespace": "default", "Service": "Helm"},
	}
	for _, file := range files {
		if filepath.Ext(file) != ".yaml" && filepath.Ext(file) != ".txt" {
			continue
		}
		var text strings.Builder
		exitOn(templates.ExecuteTemplate(&text, filepath.Base(file), data))
		if filepath.Ext(file) == ".yaml" {
			fmt.Printf("---\n%s\n", text.String())
		}
	}
}
