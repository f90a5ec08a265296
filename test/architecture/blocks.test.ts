/** A test runs or compares every block of every page, or the page says that no test does. */
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

/** The kinds of blocks that a check of their own holds, on whatever page. */
const KINDS: Readonly<Record<string, (block: Block, page: string) => boolean>> = {
  "a drawing": ({ language }) => language === "mermaid",
  "a manifest, which docs.test.ts validates": ({ language, text }) =>
    language === "yaml" && text.startsWith("apiVersion: keyplane.dev"),
  "values of the chart, which its schema validates": isOfChart,
  "an example of a command, which generate.ts has written and help.test.ts has parsed": (_block, page) =>
    page === "docs/reference/commands.md",
};

/** By page, or by page and heading: the tests that run the blocks there, or compare them with what they show. */
const TESTS: Readonly<Record<string, readonly string[]>> = {
  "README.md: Try it": ["test/e2e/quickstart.journeys.test.ts"],
  "README.md: A key of your own": ["test/e2e/quickstart.journeys.test.ts"],
  "README.md: A real model provider": ["test/examples/providers.journeys.test.ts"],
  "README.md: Production, on Kubernetes": [
    "test/e2e/chart/chart.e2e.test.ts",
    "test/examples/kubernetes.cluster.test.ts",
  ],
  "docs/reference/management-api.md": ["test/cli/up/running-up.journeys.test.ts"],
  "docs/architecture.md": ["test/architecture/docs.test.ts"],
  "docs/clients.md": ["test/e2e/clients.journeys.test.ts", "test/e2e/clients.system.test.ts"],
  "docs/tutorials/first-key.md": ["test/e2e/first-key.browser.test.ts"],
  "docs/guides/budget-of-a-team.md": ["test/e2e/guides.journeys.test.ts"],
  "docs/guides/caddy.md": ["test/server/authz/proxy-guides.system.test.ts"],
  "docs/guides/traefik.md": ["test/server/authz/proxy-guides.system.test.ts"],
  "docs/guides/envoy.md": ["test/server/authz/proxy-guides.system.test.ts"],
  "docs/guides/nginx-auth-request.md": ["test/server/authz/proxy-guides.system.test.ts"],
  "docs/guides/capture.md": ["test/examples/capture.journeys.test.ts"],
  "docs/guides/from-hand-made-keys.md": ["test/e2e/guides.journeys.test.ts"],
  "docs/guides/from-litellm-or-portkey.md": ["test/e2e/guides.journeys.test.ts"],
  "docs/guides/gitops.md": ["test/e2e/guides.journeys.test.ts"],
  "docs/guides/leaked-key.md": ["test/e2e/guides.journeys.test.ts"],
  "docs/guides/memory-in-and-out.md": ["test/e2e/guides.journeys.test.ts"],
  "docs/guides/memory-of-users.md": ["test/e2e/guides.journeys.test.ts"],
  "docs/guides/own-key.md": ["test/e2e/guides.journeys.test.ts"],
  "docs/guides/providers.md": ["test/examples/providers.journeys.test.ts"],
  "docs/guides/proxy.md": ["test/server/http/proxy-guide.system.test.ts"],
  "docs/guides/pull-requests.md": ["test/e2e/guides.journeys.test.ts"],
  "docs/guides/refused-calls.md": ["test/e2e/guides.journeys.test.ts"],
  "docs/guides/rotation.md": ["test/e2e/guides.journeys.test.ts"],
  "docs/guides/search-by-meaning.md": ["test/e2e/guides.journeys.test.ts"],
  "docs/guides/teams.md": ["test/e2e/guides.journeys.test.ts"],
  "docs/operations/encryption-keys.md: Rotating": [
    "test/e2e/chart/walk.e2e.night.test.ts",
    "test/cli/lost-files.faults.test.ts",
  ],
  "docs/operations/without-helm.md: Installing": ["test/e2e/chart/chart.e2e.test.ts"],
  "docs/operations/bootstrap-token.md: The first key, and emergencies": ["test/e2e/chart/walk.e2e.night.test.ts"],
  "docs/operations/database-connection.md: Another URL of the database": ["test/e2e/chart/walk.e2e.night.test.ts"],
  "docs/operations/namespaces.md: Deleting a namespace": ["test/infra/chart/gone-namespace.cluster.test.ts"],
  "docs/operations/upgrading.md: Upgrade": ["test/e2e/chart/chart.e2e.test.ts"],
  "docs/operations/conditions.md: Argo CD": ["test/infra/argo-cd.cluster.test.ts"],
  "docs/operations/costs.md": ["test/cli/get/usage-cost.test.ts"],
  "docs/operations/leaks.md": ["test/cli/up/running-up.journeys.test.ts"],
  "docs/operations/reading.md": ["test/cli/reading.journeys.test.ts"],
  "docs/operations/webhooks.md": ["test/server/webhooks/guide.test.ts", "test/server/webhooks/sender.test.ts"],
  "docs/guides/pulumi.md": ["test/infra/pulumi/docs.pulumi.test.ts"],
  "docs/guides/pulumi.md: Keys of a cluster": ["test/infra/pulumi/kubernetes.cluster.test.ts"],
  "docs/guides/pulumi-go.md": ["test/infra/pulumi/languages.night.test.ts"],
  "docs/guides/pulumi-python.md": ["test/infra/pulumi/languages.night.test.ts"],
  "docs/guides/pulumi-yaml.md": ["test/infra/pulumi/yaml.pulumi.test.ts"],
  "docs/guides/terraform.md": ["test/infra/terraform/docs.pulumi.test.ts"],
  "examples/argo-cd/README.md": ["test/examples/argo-cd.cluster.test.ts"],
  "examples/kubernetes/README.md": ["test/examples/kubernetes.cluster.test.ts"],
  "examples/model-stub/README.md": ["test/examples/model-stub.test.ts"],
  "infra/rbac/README.md": ["test/infra/rbac.cluster.test.ts"],
};

function isOfChart({ language, text }: Block): boolean {
  return language === "yaml" && Object.keys(parseAllDocuments(text)[0]?.toJS()).every((name) => name in DEFAULTS);
}

/** The blocks that need a test: they are of no kind of {@link KINDS}, and the page does not say that no test runs them. */
const IN_NEED = PAGES.flatMap((page) =>
  blocksIn(read(page))
    .filter((block) => !block.isMarkedNotRun && !Object.values(KINDS).some((is) => is(block, page)))
    .map(({ heading, text }) => ({ places: [page, `${page}: ${heading}`], begins: text.split("\n", 1)[0] })),
);

describe("a block of a page", () => {
  it("is of a kind that a check holds, has a test, or says that it has none", () => {
    const left = IN_NEED.filter(({ places }) => !places.some((place) => place in TESTS));
    expect(left.map(({ places, begins }) => `${places.at(-1)}: ${begins}`)).toEqual([]);
  });

  it.each(Object.entries(TESTS))("%s has blocks that need a test, and its tests read the page", (place, tests) => {
    expect(IN_NEED.some(({ places }) => places.includes(place))).toBe(true);
    const [page = ""] = place.split(": ", 1);
    for (const test of tests) expect(textOf(test), test).toContain(page);
  });

  it.each([
    ["```sh\nls\n```\n", false],
    ["```sh\nls\n```\n\n<!-- Not run by a test: it takes a cluster. -->\n", true],
    ["```sh\nls\n```\n\nAs the page said.\n\n<!-- Not run by a test: it takes a cluster. -->\n", false],
    ["```sh\nls\n```\n\n<!-- Not run by a test. -->\n", false],
    ["# P\n\n<!-- No block of this page is run by a test: it takes a cluster. -->\n\n## H\n\n```sh\nls\n```\n", true],
    ["As follows:\n\n    ls\n\nand so on.\n", false],
    ["```sh title=a\nls\n```\n", false],
    ["1. One:\n\n   ```sh\n   ls\n   ```\n", false],
  ])("says that no test runs it in the line below it, or in the head of its page: %j", (page, isMarkedNotRun) => {
    expect(blocksIn(page)).toEqual([expect.objectContaining({ isMarkedNotRun })]);
  });

  it("is below the last heading before it, which is no comment of another block", () => {
    const [, second] = blocksIn("## Run\n\n```sh\n# first\nls\n```\n\n```sh\nls\n```\n");
    expect(second?.heading).toBe("Run");
  });
});

const isTaken = new Ajv({ strict: false, logger: false }).compile(JSON.parse(read("infra/chart/values.schema.json")));

it.each(PAGES)("%s shows values that the chart takes", (page) => {
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
