import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { FACT_NAMES, factOf } from "../../../../domain/key/declaration/facts.ts";
import { recordNetworks } from "../../../../store/keys/uses/key-networks.ts";
import { addRequestCounts } from "../../../../store/keys/uses/request-counts.ts";
import { recordUsage } from "../../../../store/keys/uses/usage.ts";
import { endSession } from "../../../../store/sessions/sessions.ts";
import { describeOnPostgres } from "../../../env/database/engines.ts";
import { until } from "../../../env/until.ts";
import { makeTeam, reserveKey, unique } from "../../../store/fixtures.ts";
import { type PageResponse, type Pages, startPages, type Visitor } from "../pages.ts";

type Made = { readonly id: string; readonly name: string; readonly secret: string; readonly prefix: string };

let pages: Pages;
let team: Awaited<ReturnType<typeof makeTeam>>;
/** A member of the team alone. */
let member: Visitor;
let others: string;

const MEMBERS = (["admin", "member", "viewer"] as const).map((role) => ({
  ...({ role, kind: "subject", value: role } as const),
}));

beforeAll(async () => {
  pages = await startPages();
  team = await makeTeam(pages.store, { members: MEMBERS });
  others = (await makeTeam(pages.store, { members: [{ role: "admin", kind: "subject", value: "stranger" }] })).teamId;
  member = await pages.as("member");
});
afterAll(() => pages.close());

async function makeKey(spec: object = {}, more: object = {}, on: Pages = pages, of = team.teamId): Promise<Made> {
  const wanted = { name: unique("key"), team: of, spec: { preset: "MCPReadOnly", ...spec }, ...more };
  const { status, body } = await on.send("POST", "/keys", wanted);
  expect([status, body]).toEqual([201, body]);
  return body;
}

const idsOf = (keys: readonly { readonly id: string }[]) => keys.map(({ id }): [string, string] => ["keyId", id]);
const addressOf = (path: string, keys: readonly { readonly id: string }[], list = "/dashboard/keys") =>
  `/keys/${path}?${new URLSearchParams([...idsOf(keys), ["list", list]])}`;
/** The form that confirms a revocation, by its phrase or by another. */
const formOf = (keys: readonly { readonly id: string }[], fields: FormFields = {}) => {
  const confirm = `revoke ${keys.length} ${keys.length === 1 ? "key" : "keys"}`;
  return { confirm, ...fields };
};
type FormFields = { confirm?: string; reason?: string };
const revoke = (visitor: Visitor, keys: readonly { readonly id: string }[], fields?: FormFields, list?: string) =>
  visitor.post(addressOf("revoke", keys, list), formOf(keys, fields));

async function stateOf({ id }: { readonly id: string }, on: Pages = pages): Promise<string> {
  return (await on.send("GET", `/keys/${id}`)).body.state;
}

/** Every replica refuses a revoked key within seconds. */
function untilRefused({ name, secret }: Made): Promise<unknown> {
  return until(`${name} is refused`, async () => (await pages.tryKey(secret)) === 401);
}

/** What was said of the keys below a heading, without markup. */
function below({ text }: PageResponse, heading: string): string[] {
  const [, list = ""] = new RegExp(`<h2[^>]*>${heading}</h2><ul>(.*?)</ul>`, "s").exec(text) ?? [];
  return [...list.matchAll(/<li>(.*?)<\/li>/gs)].map(([, said = ""]) => said.replace(/<[^>]*>/g, ""));
}

async function revocationsOf(ids: readonly string[], on: Pages = pages) {
  const { rows } = await sql<{ keyId: string; actor: string; why: string | null }>`
    select key_id as "keyId", actor, detail ->> 'why' as why from audit_events
    where kind = 'key.revoked' and key_id = any(${ids}::text[]) order by key_id`.execute(on.store.db);
  return rows;
}

describe("The list of keys", () => {
  test("has a box for each key, and what a role may do with those that are selected", async () => {
    const { id, name } = await makeKey();
    const search = `/keys?q=${name}&order=newest`;
    const shown = async (visitor: Visitor) => (await visitor.get(search)).text;
    expect(await shown(member)).toContain(
      `<input type="checkbox" name="keyId" value="${id}" aria-label="Select ${name}">`,
    );
    const actions = (text: string) =>
      [...text.matchAll(/<button[^>]*formaction="([^"]*)"|>(Export CSV)</g)].map(([, to, csv]) => to ?? csv);
    const both = ["/dashboard/keys/export.yaml", "/dashboard/keys/revoke"];
    expect(actions(await shown(member))).toEqual(["Export CSV", ...both]);
    expect(actions(await shown(await pages.as("viewer")))).toEqual(["Export CSV"]);
    expect((await pages.get("/keys?q=no-key-is-called-so")).text).not.toContain('id="selection"');
  });

  test("is gone back to as it was, with its filters, from a revocation that is cancelled or done", async () => {
    const key = await makeKey();
    const { text } = await member.get("/keys?order=newest&state=active&q=key");
    const [, list = ""] = /name="list" value="([^"]*)"/.exec(text) ?? [];
    expect(list).toBe("/dashboard/keys?q=key&amp;state=active&amp;order=newest");
    const form = await member.get(addressOf("revoke", [key], list.replaceAll("&amp;", "&")));
    expect(form.text).toContain(`<a class="button" href="${list}">Cancel</a>`);
    const done = await revoke(member, [key], {}, list.replaceAll("&amp;", "&"));
    expect(done.text).toContain(`href="${list}">Back to the list</a>`);
  });

  let selected: Made;
  beforeAll(async () => {
    selected = await makeKey();
  });
  test.for([
    "https://evil.example/dashboard/keys?q=a",
    "//evil.example?q=a",
    "javascript:alert(1)?q=a",
    '"><script>?q=a',
  ])("is all that a selection leads back to: not %s", async (list) => {
    const { text } = await member.get(addressOf("revoke", [selected], list));
    expect(text).toContain('<a class="button" href="/dashboard/keys?q=a">Cancel</a>');
    expect(text).not.toMatch(/evil\.example|javascript:|"><script>/);
  });
});

describe("Exporting selected keys", () => {
  test("gives one file of the manifests that the keys' own pages have, and names those without", async () => {
    const keys = [await makeKey(), await makeKey({ displayName: "Second" })];
    const declared = (await reserveKey(pages.store, team)).key;
    const revoked = await makeKey();
    await pages.send("POST", `/keys/${revoked.id}/revoke`, {});
    const file = await member.get(addressOf("export.yaml", [declared, ...keys, revoked]));
    expect([file.status, file.headers.get("content-type")]).toEqual([200, "application/yaml; charset=utf-8"]);
    expect(file.headers.get("content-disposition")).toMatch(/^attachment; filename="keyplane-keys-[\dTZ-]+\.yaml"$/);
    const documents = parseAllDocuments(file.text).map((document) => document.toJS());
    const single = await Promise.all(keys.map(({ id }) => pages.send("GET", `/keys/${id}/manifest`)));
    expect(documents).toEqual(single.map(({ body }) => body));
    const comments = file.text.split("\n").filter((line) => line.startsWith("#"));
    expect(comments).toEqual([
      "# Not exported: 2",
      expect.stringMatching(
        `^# ${declared.name}: PlatformKey ${declared.namespace}/${declared.name} .*declares this key`,
      ),
      expect.stringMatching(`^# ${revoked.name}: The key is revoked`),
    ]);
    expect(file.text).not.toMatch(/inf_\w{20}/);
  });

  test("says so on a page where none of them has a manifest", async () => {
    const declared = (await reserveKey(pages.store, team)).key;
    const { status, text, headers } = await member.get(addressOf("export.yaml", [declared]));
    expect([status, headers.get("content-type")]).toEqual([409, "text/html; charset=utf-8"]);
    expect(text).toContain(`${declared.name}: `);
  });

  test("gives the list's columns as CSV, to viewers too, and no digest and no secret", async () => {
    const key = await makeKey({
      displayName: 'Quoted "name", and more',
      owner: "ann@example.com",
      expiresAfter: "720h",
    });
    const file = await (await pages.as("viewer")).get(addressOf("export.csv", [key]));
    expect([file.status, file.headers.get("content-type")]).toEqual([200, "text/csv; charset=utf-8"]);
    const [head, row, ...rest] = file.text.split("\r\n");
    expect(head).toBe(
      `Name,Display name,Team,${FACT_NAMES.map((name) => factOf(name).label)},Prefix,State,Leaked,Scopes,Bound to,Last use,Expires,Declared in,Cluster,Id`,
    );
    const { body } = await pages.send("GET", `/keys/${key.id}`);
    expect(row).toBe(
      [
        ...[
          key.name,
          '"Quoted ""name"", and more"',
          team.name,
          ...FACT_NAMES.map((name) => (name === "owner" ? "ann@example.com" : "")),
          key.prefix,
          "active",
          "no",
        ],
        ...["memory:read", "All libraries", "", body.expiresAt, "", "", key.id],
      ].join(","),
    );
    expect(rest).toEqual([""]);
    expect((await (await pages.as("viewer")).get(addressOf("export.yaml", [key]))).status).toBe(403);
  });

  test("b198: runs no formula in a spreadsheet and makes nothing but text of a manifest, whatever keys are called", async () => {
    const formula = await makeKey(
      { displayName: '=HYPERLINK("https://evil.example")', owner: "@SUM(1+1)" },
      { managedBy: "urn:pulumi:a,b" },
    );
    const lines = await makeKey({ displayName: "one\n---\nkind: Secret\u2028# two" });
    const { text } = await member.get(addressOf("export.csv", [formula, lines]));
    expect(text).toContain(`,"'=HYPERLINK(""https://evil.example"")",`);
    expect(text).toContain(",'@SUM(1+1),");
    expect(text).toContain(',"urn:pulumi:a,b",');
    const file = await member.get(addressOf("export.yaml", [formula, lines]));
    const documents = parseAllDocuments(file.text).map((document) => document.toJS());
    expect(documents.map(({ kind, spec }) => [kind, spec.displayName])).toEqual([
      ["PlatformKey", "one\n---\nkind: Secret\u2028# two"],
    ]);
    expect(file.text.split("\n")[1]).toMatch(/^# .*: urn:pulumi:a,b manages this key/);
  });
});

describe("The form that revokes selected keys", () => {
  test("changes nothing by being opened, and says which are used, how often, from where, and what stays", async () => {
    const [unused, used] = [await makeKey({}, { managedBy: "urn:pulumi:agents" }), await makeKey()];
    const declared = (await reserveKey(pages.store, team)).key;
    const ended = await makeKey();
    await pages.send("POST", `/keys/${ended.id}/revoke`, {});
    const at = Date.now();
    await recordUsage(pages.store, [{ keyId: used.id, version: 1, at, address: "127.0.0.1", userAgent: "agent/1" }]);
    const slot = Math.floor(at / 300_000) * 300_000;
    await addRequestCounts(pages.store, [{ keyId: used.id, slot, scope: "memory:read", count: 3 }], () => {});
    const day = new Date(at).toISOString().slice(0, 10);
    await recordNetworks(pages.store, [{ keyId: used.id, network: "127.0.0.0/24", day }]);
    const page = await member.get(addressOf("revoke", [unused, used, declared, ended]));
    expect(page.text).toContain("3 requests since");
    expect(page.text).toContain("of late from 127.0.0.0/24");
    expect(page.text).toContain("<h1>Revoke 2 keys</h1>");
    expect(page.text).toContain("<strong>1 of 2 was used within the last day</strong>, for 3 requests.");
    const words = page.text.replace(/<[^>]*>/g, " ").replace(/\s+/g, " ");
    expect(words).toMatch(
      new RegExp(`${used.name} .*In use Last used .* ${unused.name} .*urn:pulumi:agents.* Never used`),
    );
    expect(below(page, "Left as they are")).toEqual([
      expect.stringMatching(
        `^${declared.name}: PlatformKey ${declared.namespace}/${declared.name} declares it: remove`,
      ),
      `${ended.name}: revoked already.`,
    ]);
    expect(page.text).toContain("Type <code>revoke 2 keys</code>");
    expect(page.text.match(/keyId=key_/g)).toHaveLength(2);
    expect(await Promise.all([unused, used, declared].map((key) => stateOf(key)))).toEqual(Array(3).fill("active"));
  });

  const kept: Made[] = [];
  beforeAll(async () => {
    kept.push(await makeKey(), await makeKey());
  });
  test.for(["", "revoke 1 key", "revoke 3 keys", "Revoke 2 keys", "2", "revoke 2 keys please"])(
    "changes nothing where it is confirmed by %j, and gives back what else was typed",
    async (confirm) => {
      const keys = kept;
      const refused = await revoke(member, keys, { confirm, reason: "found in a log" });
      expect(refused.status).toBe(422);
      expect(refused.text).toContain('<p class="error" id="confirm-error">Confirmation: type revoke 2 keys.</p>');
      expect(refused.text).toMatch(/<input id="reason" name="reason" value="found in a log"/);
      expect(await Promise.all(keys.map((key) => stateOf(key)))).toEqual(["active", "active"]);
    },
  );

  test("asks for the number of those that are still to be revoked", async () => {
    const [one, two] = [await makeKey(), await makeKey()];
    await pages.send("POST", `/keys/${one.id}/revoke`, {});
    const { text } = await revoke(member, [one, two], { confirm: "revoke them" });
    expect(text).toContain("Confirmation: type revoke 1 key.");
    expect(text).toContain(">Revoke 1 key</button>");
  });

  test("repeats no key that is typed into it, and takes none as a reason or as a selection", async () => {
    const key = await makeKey();
    const answers = [
      await revoke(member, [key], { confirm: key.secret }),
      await revoke(member, [key], { reason: `it was ${key.secret}` }),
      await member.get(addressOf("revoke", [{ id: key.secret }])),
    ];
    expect(answers.map(({ status }) => status)).toEqual([422, 400, 400]);
    expect(answers.filter(({ text }) => text.includes(key.secret))).toEqual([]);
    expect(await stateOf(key)).toBe("active");
  });

  test("ends each, with an event of its own that has the reason, and says so", async () => {
    const keys = [await makeKey(), await makeKey()];
    const done = await revoke(member, keys, { reason: "found in a log" });
    expect([done.status, below(done, "Revoked")]).toEqual([200, keys.map(({ name }) => name)]);
    expect(done.text).toContain("2 revoked, 0 already revoked, 0 refused.");
    for (const key of keys) await untilRefused(key);
    const events = await revocationsOf(keys.map(({ id }) => id));
    expect(events.map(({ why }) => why)).toEqual(["found in a log", "found in a log"]);
  });

  test("keeps of a reason that is too long what has room, and no half of a character", async () => {
    const key = await makeKey();
    const done = await revoke(member, [key], { reason: `${"a".repeat(499)}🔑 and more` });
    expect([done.status, below(done, "Revoked")]).toEqual([200, [key.name]]);
    const [event] = await revocationsOf([key.id]);
    expect(event?.why).toBe(`${"a".repeat(499)}🔑`);
  });
});

describe("A revocation of several keys", () => {
  test("b195: ends of keys that were slipped into it those alone that its sender may revoke, and says of others no more than of none", async () => {
    const [own, foreign] = [await makeKey(), await makeKey({}, {}, pages, others)];
    const declared = (await reserveKey(pages.store, team)).key;
    const none = { id: "key_aaaaaaaaaaaaaaaaaaaaaaaaaa" };
    const form = await member.get(addressOf("revoke", [own, foreign, none]));
    const left = [foreign, none].map(({ id }) => `${id}: There is no key of this id.`);
    expect(below(form, "Left as they are")).toEqual(left);
    const done = await revoke(member, [own, foreign, none, declared]);
    expect([done.status, below(done, "Revoked")]).toEqual([200, [own.name]]);
    expect(below(done, "Refused")).toEqual([...left, expect.stringContaining(`/${declared.name} declares it`)]);
    for (const { text } of [form, done]) expect(text).not.toContain(foreign.name);
    const { text } = await member.get(addressOf("export.csv", [own, foreign, none]));
    expect(text.split("\r\n").slice(2)).toEqual([
      ...[foreign, none].map(({ id }) => `,,${FACT_NAMES.map(() => ",").join("")},,not found,,,,,,,,${id}`),
      "",
    ]);
    await untilRefused(own);
    expect(await pages.tryKey(foreign.secret)).toBe(200);
    expect(await stateOf(declared)).toBe("active");
  });

  test("b195: of keys of others alone is no page, and by a viewer it is refused", async () => {
    const key = await makeKey();
    const [viewer, stranger] = [await pages.as("viewer"), await pages.as("stranger")];
    for (const [visitor, status] of [
      [viewer, 403],
      [stranger, 404],
    ] as const) {
      const answers = [await visitor.get(addressOf("revoke", [key])), await revoke(visitor, [key])];
      expect(answers.map((answer) => answer.status)).toEqual([status, status]);
      for (const { text } of answers) expect(text).not.toContain(key.name);
    }
    expect(await stateOf(key)).toBe("active");
  });

  test("b195: with a hundred keys and one, with ten thousand, with none, and with what is no id does nothing", async () => {
    const key = await makeKey();
    const forged = (count: number) =>
      Array.from({ length: count }, (_, i) => ({
        id: `key_${"a".repeat(20)}${i.toString(6).replace(/\d/g, (d) => "bcdefg".charAt(Number(d)))}`,
      }));
    const confirm = "revoke 1 key";
    for (const [keys, said] of [
      [[key, ...forged(100)], "More than 100 keys are selected"],
      [Array(101).fill(key), "More than 100 keys are selected"],
      [[], "No key is selected"],
      [[key, { id: "key_none'; drop table keys" }], "This selection is broken"],
    ] as const) {
      const refused = await revoke(member, keys, { confirm });
      expect([refused.status, refused.text.includes(said)]).toEqual([400, true]);
    }
    expect((await revoke(member, [key, ...forged(9_999)], { confirm })).status).toBe(431);
    expect((await member.get(addressOf("export.csv", [key, ...forged(100)]))).status).toBe(400);
    expect((await member.get(addressOf("export.csv", forged(9_999)))).status).toBe(431);
    expect((await member.get(addressOf("export.csv", [key, ...forged(99)]))).status).toBe(200);
    expect(await stateOf(key)).toBe("active");
  });

  test("b195: needs the token of the session, and a session", async () => {
    const key = await makeKey();
    const others = { "x-csrf-token": "another" };
    expect((await member.post(addressOf("revoke", [key]), formOf([key]), others)).status).toBe(403);
    expect(
      (await member.post(addressOf("revoke", [key]), formOf([key]), { origin: "https://evil.example" })).status,
    ).toBe(403);
    expect((await member.post(addressOf("revoke", [key]), formOf([key]), { cookie: "" })).status).toBe(401);
    const signIn = await member.get(addressOf("revoke", [key]), { cookie: "" });
    expect([signIn.status, signIn.headers.get("location")]).toEqual([303, expect.stringMatching(/sign-in\?returnTo=/)]);
    expect(await stateOf(key)).toBe("active");
  });

  test("is led back to by the sign-in, with its selection, where the session ended before it was sent", async () => {
    const keys = [await makeKey(), await makeKey()];
    const late = await member.post(addressOf("revoke", keys), formOf(keys), { cookie: "" });
    const [, address = ""] = /href="\/dashboard([^"]*)">Sign in</.exec(late.text) ?? [];
    const again = await member.get(address.replaceAll("&amp;", "&"));
    expect([late.status, again.status]).toEqual([401, 200]);
    expect(again.text).toContain("Type <code>revoke 2 keys</code>");
  });

  test("b196: that is sent twice at once, and again, revokes each key once, with one event", async () => {
    const keys = [await makeKey(), await makeKey(), await makeKey()];
    const both = await Promise.all([revoke(member, keys), revoke(member, keys.toReversed())]);
    expect(both.map(({ status }) => status)).toEqual([200, 200]);
    const revoked = both.flatMap((answer) => below(answer, "Revoked"));
    expect(revoked.sort()).toEqual(keys.map(({ name }) => name).sort());
    const before = await revocationsOf(keys.map(({ id }) => id));
    expect(before).toHaveLength(3);
    const again = await revoke(member, keys);
    expect([again.status, below(again, "Revoked")]).toEqual([200, []]);
    expect(below(again, "Already revoked before")).toEqual(keys.map(({ name }) => `${name}: revoked already.`));
    expect(await revocationsOf(keys.map(({ id }) => id))).toEqual(before);
  });
});

describeOnPostgres("A revocation of several keys that is under way", (store) => {
  let here: Pages;
  beforeAll(async () => {
    here = await startPages(store());
  });
  afterAll(() => here.close());

  /** Sends the form, and holds keys locked until something else is done: the second, where nothing else is said. */
  async function whileHeld(
    keys: readonly Made[],
    visitor: Visitor,
    meanwhile: () => Promise<void>,
    lockedKeys = keys.slice(1, 2),
  ) {
    const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
    const { promise: locked, resolve: lock } = Promise.withResolvers<void>();
    const holding = store()
      .db.transaction()
      .execute(async (tx) => {
        await sql`select from keys where id = any(${lockedKeys.map(({ id }) => id)}::text[]) for update`.execute(tx);
        lock();
        await held;
      });
    await locked;
    const sent = revoke(visitor, keys);
    try {
      await until("it waits for the second key", async () => (await waiting()) > 0);
      await meanwhile();
    } finally {
      letGo();
      await holding;
    }
    return sent;
  }

  async function waiting(): Promise<number> {
    const { rows } = await sql`select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(store().db);
    return rows.length;
  }

  async function begin(subject: string) {
    const own = await makeTeam(store(), { members: [{ role: "member", kind: "subject", value: subject }] });
    const keys: Made[] = [];
    for (let i = 0; i < 4; i++) keys.push(await makeKey({}, {}, here, own.teamId));
    return { keys, own, visitor: await here.as(subject) };
  }

  test("b197: takes one connection, so that other teams' pages are answered and their keys revoked", async () => {
    const [one, other] = [await begin("one"), await begin("other")];
    const meanwhile = async () => {
      expect(await waiting()).toBe(1);
      expect((await other.visitor.get("/keys")).status).toBe(200);
      expect(below(await revoke(other.visitor, other.keys), "Revoked")).toHaveLength(4);
      expect(await waiting()).toBe(1);
    };
    const done = await whileHeld(one.keys, one.visitor, meanwhile, one.keys);
    expect(below(done, "Revoked")).toHaveLength(4);
  });

  test("b197: ends no further key once its sender's session has ended, and says of each what became of it", async () => {
    const { keys, visitor } = await begin("leaver");
    const done = await whileHeld(keys, visitor, async () => {
      expect(await endSession(store().db, visitor.browser.digest)).toBe(true);
    });
    // The second one waits for its lock meanwhile (threats b428).
    const [first, second, ...rest] = keys.map(({ name }) => name);
    expect(below(done, "Revoked")).toEqual([first]);
    expect(below(done, "Refused")).toEqual([
      `${second}: Your session has ended: sign in again.`,
      ...rest.map((name) => `${name}: Not tried, since one before it failed: select it again.`),
    ]);
    const states = await Promise.all(keys.map((key) => stateOf(key, here)));
    expect(states).toEqual(["revoked", "active", "active", "active"]);
  });

  test("b197: ends no further key once its sender has lost the role that it takes", async () => {
    const { keys, visitor, own } = await begin("demoted");
    const done = await whileHeld(keys, visitor, async () => {
      await sql`update team_members set role = 'viewer' where team_id = ${own.teamId}`.execute(store().db);
    });
    // The second one waits for its lock meanwhile (threats b428).
    const rest = keys.slice(1).map(({ name }) => name);
    expect(below(done, "Refused")).toEqual(
      rest.map((name) => `${name}: Your role in this team does not let you revoke keys: it takes admin or member.`),
    );
    const states = await Promise.all(keys.map((key) => stateOf(key, here)));
    expect(states).toEqual(["revoked", "active", "active", "active"]);
  });
});
