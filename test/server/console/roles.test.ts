import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { filesBelow, read } from "../../architecture/sources.ts";
import { makeTeam } from "../../store/fixtures.ts";
import { PAGES } from "./page-table.ts";
import { type PageResponse, type Pages, startPages, type Visitor } from "./pages.ts";

const ROLES = ["admin", "member", "viewer"] as const;
/** And a person of another team. */
const PEOPLE = [...ROLES, "stranger"] as const;
type Person = (typeof PEOPLE)[number];

/** What each is answered by a form, with fields that a member's would be taken with; `:name` is the key's own. */
const FORMS: Readonly<Record<string, { fields: Record<string, string>; statuses: (typeof PAGES)[string] }>> = {
  "/keys/new": {
    fields: { name: "made-by", team: "payments", preset: "MCPReadOnly" },
    statuses: [201, 201, 403, 422],
  },
  "/keys/new/manifest": {
    fields: { name: "written-by", team: "payments", preset: "MCPReadOnly" },
    statuses: [200, 200, 403, 200],
  },
  "/keys/find": { fields: { secret: "inf_of_no_key_at_all" }, statuses: [404, 404, 404, 404] },
  "/keys/revoke?keyId=:key": { fields: { confirm: "revoke 1 key" }, statuses: [200, 200, 403, 404] },
  "/keys/:key/edit": { fields: { preset: "MCPReadOnly", displayName: "Changed" }, statuses: [303, 303, 403, 404] },
  "/keys/:key/state": { fields: { state: "Suspended" }, statuses: [303, 303, 403, 404] },
  "/keys/:key/rotate": { fields: { overlap: "1h" }, statuses: [201, 201, 403, 404] },
  "/keys/:key/revoke": { fields: { confirm: ":name" }, statuses: [303, 303, 403, 404] },
};

/** What is held to the roles where there is something to do it to. */
const ELSEWHERE = [
  // test/server/console/webhooks/webhooks.test.ts
  "post /webhooks/deliveries/:/redeliver",
];

let pages: Pages;
const people = new Map<Person, Visitor>();
/** Ids, by what stands for them in a path. */
const ids: Record<string, string> = {};

beforeAll(async () => {
  pages = await startPages();
  const members = ROLES.map((role) => ({ role, kind: "subject", value: role }) as const);
  const { teamId } = await makeTeam(pages.store, { name: "payments", members, namespaces: ["payments-dev"] });
  ids.team = teamId;
  const others = [{ role: "admin", subject: "stranger" }];
  await pages.send("POST", "/teams", { name: "research", spec: { members: others } });
  for (const person of PEOPLE) people.set(person, await pages.as(person));
  const team = "payments";
  ids.library = (await pages.send("POST", "/libraries", { name: "handbook", team, spec: {} })).body.id;
  const upstreams = [{ name: "u", dialect: "openai", baseURL: "https://u.example", credential: "c" }];
  const gateway = { name: "models", team, spec: { upstreams, routes: [] } };
  ids.gateway = (await pages.send("POST", "/gateways", gateway)).body.id;
  const writer = { name: "writer", team, spec: { preset: "MCPReadWrite" } };
  const { body } = await pages.send("POST", "/keys", writer);
  const atom = await fetch(`${pages.url}/atoms`, {
    method: "POST",
    headers: { "x-api-key": body.secret, "content-type": "application/json" },
    body: JSON.stringify({ library: "handbook", content: "Refunds need two people." }),
  });
  ids.atom = String(Object(await atom.json()).id);
});
afterAll(() => pages.close());

function visitor(person: Person): Visitor {
  const found = people.get(person);
  if (found === undefined) throw new Error(`no person is the ${person}`);
  return found;
}

const pathOf = (pattern: string) => pattern.replace(/:(\w+)/g, (_, name) => ids[name] ?? "");

/** A key for one form alone: what is done to it changes what it is. */
async function newKey(name: string): Promise<{ id: string; secret: string }> {
  const made = await pages.send("POST", "/keys", { name, team: "payments", spec: { preset: "MCPReadOnly" } });
  expect(made.status, made.text).toBe(201);
  ids.key = made.body.id;
  return made.body;
}

describe("The console's pages and forms", () => {
  test("are all in the tables of this file", () => {
    const sources = ["server/console", "memory/pages"].flatMap((folder) => filesBelow(folder, ".ts"));
    const served = sources.flatMap((file) =>
      [...read(file).matchAll(/\.(get|post)(?:<[^(]*>)?\(\s*"(\/[^"]*)"/g)].map(
        ([, method, path = ""]) => `${method} ${shapeOf(path)}`,
      ),
    );
    const known = [
      ...ELSEWHERE,
      ...Object.keys(PAGES).map((path) => `get ${shapeOf(path)}`),
      ...Object.keys(FORMS).map((path) => `post ${shapeOf(path)}`),
    ];
    expect(served.filter((route) => route !== `get ${shapeOf("/assets/:name")}`).sort()).toEqual(known.sort());
  });

  /** A key without what a server records of its use, some time after it. */
  const unused = (key: { versions: readonly object[] }) => ({
    ...key,
    ...{ lastUsedAt: null, lastNetworks: [] },
    versions: key.versions.map((version) => ({ ...version, lastUsedAt: null })),
  });

  /** For all pages: to look at it changes nothing. */
  let seen = "";
  beforeAll(async () => {
    seen = (await newKey("seen")).id;
  });

  test.for(Object.entries(PAGES))("let each role see %s or not", async ([pattern, expected]) => {
    ids.key = seen;
    const answers: PageResponse[] = [];
    for (const person of PEOPLE) answers.push(await visitor(person).get(pathOf(pattern)));
    expect(answers.map(({ status }) => status)).toEqual(expected);
    for (const { text } of answers.filter(({ status }) => status === 403)) {
      expect(text).toContain("admin or member");
    }
    for (const { text } of answers.filter(({ status }) => status === 404)) expect(text).not.toContain("payments");
  });

  test.for(Object.entries(FORMS))(
    "take %s of those whose role allows it, and change nothing for others",
    async ([pattern, { fields, statuses }]) => {
      const answers: number[] = [];
      const nameOf = (person: string) => `form-${person}${pattern.toLowerCase().replace(/\W+/g, "-")}-x`;
      let unchanged: Awaited<ReturnType<typeof newKey>> | undefined;
      for (const [i, person] of PEOPLE.entries()) {
        // Those whose form is refused, and forms about no key, leave theirs as it is.
        const changesKey = (statuses[i] ?? 0) < 400 && pattern.includes(":key");
        if (!changesKey) unchanged ??= await newKey(nameOf("others"));
        const key = unchanged && !changesKey ? unchanged : await newKey(nameOf(person));
        ids.key = key.id;
        const { headers, body: before } = await pages.send("GET", `/keys/${key.id}`);
        const given = {
          ...fields,
          ...(fields.name === undefined ? {} : { name: `${fields.name}-${person}` }),
          ...(fields.confirm === ":name" ? { confirm: before.name } : {}),
          ...{ once: randomBytes(18).toString("base64url"), etag: headers.get("etag") ?? "" },
        };
        const { status, text } = await visitor(person).post(pathOf(pattern), given);
        answers.push(status);
        if ((statuses[i] ?? 0) < 400) continue;
        expect(text).not.toMatch(/inf_\w{57}/);
        const { body: after } = await pages.send("GET", `/keys/${key.id}`);
        expect(unused(after)).toEqual(unused(before));
        expect(await pages.tryKey(key.secret)).toBe(200);
        const { body } = await pages.send("GET", "/keys?name=made-by-viewer");
        expect(body.items).toEqual([]);
      }
      expect(answers).toEqual(statuses);
    },
  );
});

/** Whatever its parameters are called, and what it is asked for. */
function shapeOf(path: string): string {
  return path.replace(/\?.*/, "").replace(/:\w+/g, ":");
}
