/** Every block of every page is run or compared by a test, or the page says below it that none runs it. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Ajv } from "ajv";
import { describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { type Block, blocksIn } from "../env/blocks.ts";
import { filesBelow, ROOT, read } from "./sources.ts";

const PAGES = [
  ...["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"],
  ...["docs", "examples", "infra"].flatMap((folder) => filesBelow(folder, ".md")),
];
const DEFAULTS: Values = parse(read("infra/chart/values.yaml"));

type Values = { readonly [name: string]: unknown };

/** What a block may be that a check holds wherever it stands. */
const KINDS: Readonly<Record<string, (block: Block, page: string) => boolean>> = {
  "a drawing": ({ language }) => language === "mermaid",
  "a manifest, which docs.test.ts validates": ({ language, text }) =>
    language === "yaml" && text.startsWith("apiVersion: keyplane.dev"),
  "values of the chart, which its schema validates": isOfChart,
  "an example of a command, which generate.ts has written and help.test.ts has parsed": (_block, page) =>
    page === "docs/reference/commands.md",
};

/** The tests that run what stands in blocks of a page, or below one of its headings, or compare it with what is so. */
const TESTS: Readonly<Record<string, readonly string[]>> = {
  "README.md: Try it": ["test/e2e/quickstart.test.ts"],
  "README.md: A key of your own": ["test/e2e/quickstart.test.ts"],
  "README.md: Production, on Kubernetes": [
    "test/e2e/chart/chart.e2e.test.ts",
    "test/examples/kubernetes.cluster.test.ts",
  ],
  "docs/api.md": ["test/cli/api-docs.test.ts"],
  "docs/architecture.md": ["test/architecture/docs.test.ts"],
  "docs/clients.md": ["test/e2e/clients.test.ts", "test/e2e/clients.system.test.ts"],
  "docs/guides/first-key.md": ["test/e2e/first-key.browser.test.ts"],
  "docs/guides/from-hand-made-keys.md": ["test/e2e/guides.test.ts"],
  "docs/guides/from-litellm-or-portkey.md": ["test/e2e/guides.test.ts"],
  "docs/guides/leaked-key.md": ["test/e2e/guides.test.ts"],
  "docs/guides/own-key.md": ["test/e2e/guides.test.ts"],
  "docs/guides/proxy.md": ["test/server/http/proxy-guide.system.test.ts"],
  "docs/guides/pull-requests.md": ["test/e2e/guides.test.ts"],
  "docs/guides/refused-calls.md": ["test/e2e/guides.test.ts"],
  "docs/guides/rotation.md": ["test/e2e/guides.test.ts"],
  "docs/guides/teams.md": ["test/e2e/guides.test.ts"],
  "docs/operations/encryption-keys.md: Rotating": [
    "test/e2e/chart/walk.e2e.test.ts",
    "test/cli/lost-files.faults.test.ts",
  ],
  "docs/operations/kubernetes.md: Without Helm": ["test/e2e/chart/chart.e2e.test.ts"],
  "docs/operations/kubernetes.md: The first key, and emergencies": ["test/e2e/chart/walk.e2e.test.ts"],
  "docs/operations/kubernetes.md: Another URL of the database": ["test/e2e/chart/walk.e2e.test.ts"],
  "docs/operations/kubernetes.md: Deleting a namespace": ["test/infra/chart/gone-namespace.cluster.test.ts"],
  "docs/operations/kubernetes.md: Upgrading": ["test/e2e/chart/chart.e2e.test.ts"],
  "docs/operations/kubernetes.md: Argo CD": ["test/infra/argo-cd.cluster.test.ts"],
  "docs/operations/leaks.md": ["test/cli/leaks-docs.test.ts"],
  "docs/operations/reading.md": ["test/cli/reading.test.ts"],
  "docs/operations/webhooks.md": ["test/server/webhooks/guide.test.ts", "test/server/webhooks/sender.test.ts"],
  "docs/pulumi.md": ["test/infra/pulumi/docs.pulumi.test.ts"],
  "docs/pulumi-kubernetes.md": ["test/infra/pulumi/kubernetes.cluster.test.ts"],
  "examples/kubernetes/README.md": ["test/examples/kubernetes.cluster.test.ts"],
  "examples/model-stub/README.md": ["test/examples/model-stub.test.ts"],
  "infra/rbac/README.md": ["test/infra/rbac.cluster.test.ts"],
};

function isOfChart({ language, text }: Block): boolean {
  return language === "yaml" && Object.keys(parseAllDocuments(text)[0]?.toJS()).every((name) => name in DEFAULTS);
}

/** Those that neither their kind nor the page itself answers for, by where {@link TESTS} may name them. */
const FOR_TESTS = PAGES.flatMap((page) =>
  blocksIn(read(page))
    .filter((block) => !block.isSaidNotToRun && !Object.values(KINDS).some((is) => is(block, page)))
    .map(({ heading, text }) => ({ places: [page, `${page}: ${heading}`], begins: text.split("\n", 1)[0] })),
);

describe("a block of a page", () => {
  it("is of a kind that a check holds, is run by a test, or is said not to be", () => {
    const left = FOR_TESTS.filter(({ places }) => !places.some((place) => place in TESTS));
    expect(left.map(({ places, begins }) => `${places.at(-1)}: ${begins}`)).toEqual([]);
  });

  it.each(Object.entries(TESTS))("%s: there is one, and its tests read the page", (place, tests) => {
    expect(FOR_TESTS.some(({ places }) => places.includes(place))).toBe(true);
    const [page = ""] = place.split(": ", 1);
    for (const test of tests) expect(textOf(test), test).toContain(page);
  });

  it.each([
    ["```sh\nls\n```\n", false],
    ["```sh\nls\n```\n\n*Not run by a test: it takes a cluster.*\n", true],
    ["```sh\nls\n```\n\nAs the page said.\n\n*Not run by a test: it takes a cluster.*\n", false],
    ["```sh\nls\n```\n\n*Not run by a test.*\n", false],
    ["# P\n\n*No block of this page is run by a test: it takes a cluster.*\n\n## H\n\n```sh\nls\n```\n", true],
    ["As follows:\n\n    ls\n\nand so on.\n", false],
    ["1. One:\n\n   ```sh\n   ls\n   ```\n", false],
  ])("is said not to be run by the line below it, or in the head of its page: %j", (page, isSaidNotToRun) => {
    expect(blocksIn(page)).toEqual([expect.objectContaining({ isSaidNotToRun })]);
  });
});

it.each(PAGES)("%s shows values that the chart takes", (page) => {
  const isTaken = new Ajv({ strict: false, logger: false }).compile(JSON.parse(read("infra/chart/values.schema.json")));
  const shown = blocksIn(read(page)).filter(isOfChart);
  expect(shown.filter(({ text }) => !isTaken(merged(DEFAULTS, parse(text.replaceAll("NAMESPACE", "team-a")))))).toEqual(
    [],
  );
});

/** As Helm puts values over those that they stand for. */
function merged(below: unknown, above: unknown): unknown {
  if (!isObject(below) || !isObject(above)) return above;
  const over = Object.entries(above).map(([name, value]) => [name, merged(below[name], value)]);
  return { ...below, ...Object.fromEntries(over) };
}

function isObject(value: unknown): value is Values {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A test's text, and that of what it has beside it. */
function textOf(test: string): string {
  expect(existsSync(join(ROOT, test)), test).toBe(true);
  const text = read(test);
  const beside = [...text.matchAll(/from "\.\/([\w-]+\.ts)"/g)].map(([, name = ""]) => read(join(test, "..", name)));
  return [text, ...beside].join("\n");
}
