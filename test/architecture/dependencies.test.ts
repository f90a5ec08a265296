import { describe, expect, it } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import { filesBelow, read } from "./sources.ts";

const dependencies = Object.entries({ ...packageJson.dependencies, ...packageJson.devDependencies });
const decisions = read("docs/decisions/dependencies.md");

describe("dependencies", () => {
  it.each(dependencies)("%s is pinned exactly (%s)", (_, version) => {
    expect(version).toMatch(/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/);
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
