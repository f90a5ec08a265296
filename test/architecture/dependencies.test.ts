import { describe, expect, it } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import { filesBelow, read } from "./sources.ts";

/** What the provider of OpenTofu and Terraform requires by itself. */
const GO_MODULES = [...read("infra/terraform/go.mod").matchAll(/^(?:require |\t)(\S+) v(\S+)$/gm)].map(
  ([, name = "", version = ""]): [string, string] => [name, version],
);
const dependencies = [
  ...Object.entries({ ...packageJson.dependencies, ...packageJson.devDependencies }),
  ...GO_MODULES,
];
const decisions = read("docs/decisions/dependencies.md");

describe("dependencies", () => {
  it("are of npm and of the Go module", () => {
    expect(GO_MODULES.map(([name]) => name)).toContain("github.com/hashicorp/terraform-plugin-framework");
  });

  it.each(dependencies)("%s is pinned exactly (%s)", (_, version) => {
    expect(version).toMatch(/^(npm:[\w@/.-]+@)?\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/);
  });

  it.each(dependencies)("%s has its line among the decisions", (name) => {
    expect(decisions).toContain(`| \`${name}\` |`);
  });

  it("has no decision for a dependency that is gone", () => {
    const decided = [...decisions.matchAll(/^\| `([^`]+)` \|/gm)].map(([, name]) => name);
    expect(decided.filter((name) => !dependencies.some(([one]) => one === name))).toEqual([]);
  });

  it("overrides no peer: users who install the package would be warned of it", () => {
    expect(Object.keys(packageJson)).not.toContain("overrides");
  });

  it("is on no page as a package of npm's registry, whose name is not the project's", () => {
    const pages = ["README.md", ...["docs", "examples", "infra"].flatMap((folder) => filesBelow(folder, ".md"))];
    const fetched = /\b(?:npm (?:i|install|exec)|npx)\b(?: \S+)*? keyplane(?:@\S+)?(?:\s|$)/m;
    expect(pages.filter((page) => fetched.test(read(page)))).toEqual([]);
  });

  it("names no registry and no path of one machine in the lock file", () => {
    expect(read("package-lock.json")).not.toMatch(/"resolved": "(?!https:\/\/registry\.npmjs\.org\/)/);
  });
});
