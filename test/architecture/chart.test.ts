import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import packageJson from "../../package.json" with { type: "json" };
import { read } from "./sources.ts";

describe("infra/chart", () => {
  it("has the version of the build that it installs", () => {
    const { version, appVersion } = parse(read("infra/chart/Chart.yaml"));
    expect({ version, appVersion }).toEqual({ version: packageJson.version, appVersion: packageJson.version });
  });
});
