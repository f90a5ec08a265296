import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import packageJson from "../../package.json" with { type: "json" };
import { read } from "./sources.ts";

type Schema = { readonly properties?: Readonly<Record<string, Schema>>; readonly required?: readonly string[] };

/** The paths of all values that a schema knows by name. */
function pathsOf({ properties = {} }: Schema, at = ""): string[] {
  return Object.entries(properties).flatMap(([name, schema]) =>
    schema.properties === undefined ? [`${at}${name}`] : pathsOf(schema, `${at}${name}.`),
  );
}

/** The paths of the values that a schema lets be taken away, by null. */
function optionalPaths({ properties = {}, required = [] }: Schema, at = ""): string[] {
  return Object.entries(properties).flatMap(([name, schema]) => [
    ...(required.includes(name) ? [] : [`${at}${name}`]),
    ...optionalPaths(schema, `${at}${name}.`),
  ]);
}

describe("infra/chart", () => {
  it("has the version of the build that it installs", () => {
    const { version, appVersion } = parse(read("infra/chart/Chart.yaml"));
    expect({ version, appVersion }).toEqual({ version: packageJson.version, appVersion: packageJson.version });
  });

  it("shows in values.yaml every value that its schema takes", () => {
    const values = parse(read("infra/chart/values.yaml"));
    const isThere = (path: string) =>
      path.split(".").reduce((at: unknown, name) => (at as Record<string, unknown> | undefined)?.[name], values) !==
      undefined;
    // `global` is Helm's own.
    const missing = pathsOf(JSON.parse(read("infra/chart/values.schema.json"))).filter((path) => !isThere(path));
    expect(missing).toEqual(["global"]);
  });

  it("refuses null in place of any value, which would leave out what it says: of a NetworkPolicy, whom it keeps away", () => {
    expect(optionalPaths(JSON.parse(read("infra/chart/values.schema.json")))).toEqual(["global"]);
  });
});
