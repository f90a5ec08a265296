import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { writeLedger } from "../../../../store/budgets/budget-ledger.ts";
import { makeTeam } from "../../../store/fixtures.ts";
import { ISSUER, type Pages, startPages } from "../pages.ts";

let pages: Pages;
let payments: string;
let research: string;

const RATE = { requestsPerMinute: 600, burst: 60, scope: "Installation", concurrent: 20 };
const HOSTILE = "<script>alert(1)</script>";

beforeAll(async () => {
  pages = await startPages();
  const members = [
    { role: "viewer", subject: "vera" },
    { role: "member", group: HOSTILE },
    { role: "admin", serviceAccount: { namespace: "ci", name: "deployer" } },
    { role: "admin", subject: "ada" },
  ];
  const spec = { displayName: HOSTILE, members, namespaces: ["pay-dev"] };
  payments = (await pages.send("POST", "/teams", { name: "payments", spec })).body.id;
  const others = [
    { role: "admin", subject: "vera" },
    { role: "viewer", subject: "vic" },
  ];
  research = (
    await pages.send("POST", "/teams", {
      name: "research",
      spec: { members: others, leaks: { action: "Revoke" }, rateLimit: RATE },
    })
  ).body.id;
});
afterAll(() => pages.close());

describe("the page of a team", () => {
  test("shows each member with role and kind of name, the namespaces, and where it is declared", async () => {
    const { text } = await pages.get(`/team/${payments}`);
    for (const shown of [
      "vera",
      "ci/<wbr>deployer",
      "ServiceAccount",
      "&lt;script&gt;",
      "pay-dev",
      "made by the API",
      "keyplane revoke-subject SUBJECT --team payments",
    ]) {
      expect(text).toContain(shown);
    }
    expect(text).not.toContain(HOSTILE);
    expect(text).toContain("Administrator of this installation");
  });

  test("says what becomes of keys that leaked", async () => {
    expect((await pages.get(`/team/${payments}`)).text).toMatch(/Leaked keys<\/dt><dd>Reported/);
    expect((await pages.get(`/team/${research}`)).text).toMatch(/Leaked keys<\/dt><dd>Revoked/);
  });

  test("says what all of its calls are limited to", async () => {
    expect((await pages.get(`/team/${payments}`)).text).toMatch(/Limits<\/dt><dd>None</);
    expect((await pages.get(`/team/${research}`)).text).toContain(
      "600 requests a minute, 60 at once, over all replicas, 20 calls under way",
    );
  });

  test("b129: says what its budgets have, what is used of them, and what servers that ended have left behind", async () => {
    const budgets = [
      { tokens: 10_000, period: "Total" },
      { tokens: 1_000, period: "Day", timeZone: "Europe/Berlin", onExhausted: "Alert" },
    ];
    const { id } = (await pages.send("POST", "/teams", { name: "budgeted", spec: { budgets } })).body;
    const line = { budget: `team ${id} tokens Total`, period: "total", endsAt: Number.POSITIVE_INFINITY, revision: 1 };
    const amounts = { spent: 2_500, held: 40, wanted: 0, most: 10_000 };
    await writeLedger(pages.store.db, "running", [{ ...line, ...amounts }]);
    await writeLedger(pages.store.db, "dead", [{ ...line, ...amounts }]);
    await sql`update budget_ledger set written_at = written_at - interval '16 minutes' where holder = 'dead'`.execute(
      pages.store.db,
    );
    const { text } = await pages.get(`/team/${id}`);
    expect(text).toContain("<b>5,000 of 10,000 tokens</b> in all");
    expect(text).toContain(
      "50 % used, 4,960 left; 40 count as used since servers ended while holding them; calls are refused once it is used up<",
    );
    expect(text).toContain('<span class="badge ">50 % reached</span>');
    expect(text).toContain(
      'role="meter" aria-label="Budget in all" aria-valuemin="0" aria-valuemax="100" aria-valuenow="50.4" aria-valuetext="5,000 of 10,000 tokens used, 50.4 %"><rect class="room" width="100"',
    );
    expect(text).toMatch(/<rect class="lost" width="50.4" [^>]*><rect class="used" width="50" /);
    expect(text).toContain('aria-label="Budget a day (Europe/Berlin)"');
    expect(text).toMatch(/<b>0 of 1,000 tokens<\/b> a day \(Europe\/Berlin\).*0 % used, 1,000 left; resets/s);
    expect(text).toContain("; it warns and refuses no call<");
  });

  test.each([
    ["USD", "$0.00 of $50.00"],
    ["JPY", "¥0.00 of ¥50.00"],
    ["XTS", "XTS 0.00 of XTS 50.00"],
  ])("writes money with the sign of its currency, or its letters where it has none: %s", async (currency, said) => {
    const spec = { budgets: [{ cost: "50", currency, period: "Month" }] };
    const { id } = (await pages.send("POST", "/teams", { name: `in-${currency.toLowerCase()}`, spec })).body;
    expect((await pages.get(`/team/${id}`)).text.replaceAll("\u00a0", " ")).toContain(`<b>${said}</b> a month (UTC)`);
  });

  test("says to each what they are, and marks them among the members", async () => {
    const vera = (await (await pages.as("vera")).get(`/team/${payments}`)).text;
    expect(vera).toMatch(/vera <span class="badge good">You/);
    expect(vera).toContain("Role</span>admin, viewer in 2 teams</p>");
    expect(vera.match(/>You</g)).toHaveLength(1);
    expect(vera).toContain("viewer (you)");
    expect((await (await pages.as("ada")).get(`/team/${payments}`)).text).toContain("admin (you)");
  });

  test("names the default library, and leads to it once there is one", async () => {
    const link = /Default library<\/dt><dd><a href="\/dashboard\/libraries\/lib_/;
    await sql`update teams set default_library_name = 'handbook', default_library_namespace = '' where id = ${payments}`.execute(
      pages.store.db,
    );
    expect((await pages.get(`/team/${payments}`)).text).toContain("there is none of this name yet");
    await pages.send("POST", "/libraries", { name: "handbook", team: "payments", spec: {} });
    expect((await pages.get(`/team/${payments}`)).text).toMatch(link);
  });

  test("of a declared team says by which PlatformTeam of which cluster", async () => {
    const { teamId } = await makeTeam(pages.store);
    expect((await pages.get(`/team/${teamId}`)).text).toMatch(/declared as PlatformTeam <strong>team-\d+<\/strong> in/);
  });

  test("is not there for another team's people, nor for an id that is none", async () => {
    expect((await (await pages.as("ada")).get(`/team/${research}`)).status).toBe(404);
    for (const id of ["team_none", "x", "%00", "a".repeat(300)])
      expect((await pages.get(`/team/${id}`)).status).toBe(404);
  });

  test("b66: is gone with the next request for a member who was removed", async () => {
    await sql`insert into team_members (team_id, role, kind, value)
      values (${payments}, 'admin', 'subject', 'gone')`.execute(pages.store.db);
    const gone = await pages.as("gone");
    expect((await gone.get(`/team/${payments}`)).status).toBe(200);
    await sql`delete from team_members where value = 'gone'`.execute(pages.store.db);
    expect((await gone.get(`/team/${payments}`)).status).toBe(404);
  });
});

describe("the list of teams", () => {
  test("leads a member of one team to it, and shows those of several with the role in each", async () => {
    const only = await (await pages.as("ada")).get("/team");
    expect([only.status, only.headers.get("location")]).toEqual([303, `/dashboard/team/${payments}`]);
    const { text } = await (await pages.as("vera")).get("/team");
    expect([...text.matchAll(/data-label="Your role"[^>]*>(\w+)</g)].map(([, role]) => role)).toEqual([
      "viewer",
      "admin",
    ]);
  });

  test("says of each team's budgets how much is used and left, and when they begin anew", async () => {
    const budgets = [
      { tokens: 50_000_000, period: "Total" },
      { cost: "1250", currency: "EUR", period: "Month" },
    ];
    const { id } = (await pages.send("POST", "/teams", { name: "frugal", spec: { budgets } })).body;
    const line = { budget: `team ${id} tokens Total`, period: "total", endsAt: Number.POSITIVE_INFINITY, revision: 1 };
    await writeLedger(pages.store.db, "one", [{ ...line, spent: 41_234_567, held: 0, wanted: 0, most: 50_000_000 }]);
    const row = (await pages.get("/team")).text.split('<tr role="row">').find((one) => one.includes(">frugal<")) ?? "";
    const words = row.replace(/<[^>]*>/g, " ").replace(/\s+/g, " ");
    expect(words).toContain("41,234,567 of 50,000,000 tokens in all 80 % reached 8,765,433 left ");
    expect(words).toMatch(/€0\.00 of €1,250\.00 a month \(UTC\) €1,250\.00 left, resets in [\w ]+ /);
    expect(row).toContain('aria-valuetext="41,234,567 of 50,000,000 tokens used, 82.5 %"');
  });

  test("says to a person of no team how to be in one", async () => {
    expect((await (await pages.as(`stranger-of-${ISSUER}`)).get("/team")).text).toContain("You are in no team yet");
  });

  test("says to who runs an installation without teams how to make one, and that a key needs one", async () => {
    const empty = await startPages();
    expect((await empty.get("/team")).text).toContain("<h2>No teams yet</h2>");
    expect((await empty.get("/keys/new")).text).toContain("There is none yet that you may make keys for");
    await empty.close();
    expect((await pages.get("/keys/new")).text).not.toContain("There is none yet");
  });

  test("has pages, and finds a team by its whole name", async () => {
    await sql`insert into teams (id, cluster, name, display_name, state, generation)
      select 'team_' || translate(md5(i::text), '0189', 'wxyz'), 'c', 'many-' || i, '', 'active', 1
      from generate_series(1, 120) i`.execute(pages.store.db);
    const names: string[] = [];
    let path: string | undefined = "/team";
    while (path !== undefined) {
      const { text }: { text: string } = await pages.get(path);
      names.push(...[...text.matchAll(/<th scope="row"><a[^>]*>(many-\d+)</g)].map(([, name = ""]) => name));
      path = /href="\/dashboard([^"]+)"[^>]*>Next page/.exec(text)?.[1]?.replaceAll("&amp;", "&");
    }
    expect(names).toHaveLength(120);
    expect((await pages.get("/team?team=many-7")).text.match(/<th scope="row"><a/g)).toHaveLength(1);
    expect((await pages.get("/team?after=x")).status).toBe(400);
  });
});
