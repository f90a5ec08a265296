import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { describeNightlyOnEachEngine } from "../../env/database/engines.ts";
import { makeTeam, unique } from "../../store/fixtures.ts";
import { type Api, startApi } from "./api.ts";

const MARKED = "Docs \u202etoof";

describeNightlyOnEachEngine("A display name that turns the direction of text", (store) => {
  let api: Api;
  let team: string;
  beforeAll(async () => {
    api = await startApi(store());
    team = (await makeTeam(store())).name;
  });
  afterAll(() => api.close());

  /** What an object of a kind is made of, and where its spec and its name are stored. */
  const KINDS = {
    keys: () => ({ team, spec: { preset: "MCPReadOnly" } }),
    libraries: () => ({ team, spec: {} }),
    teams: () => ({ spec: {} }),
  } as const;

  describe.each(Object.keys(KINDS) as (keyof typeof KINDS)[])("of %s", (path) => {
    const body = (displayName?: string) => {
      const { spec, ...rest } = KINDS[path]();
      return { name: unique("named"), ...rest, spec: { ...spec, ...(displayName !== undefined && { displayName }) } };
    };
    const put = (id: string, displayName: string, more: object = {}) =>
      api.send("PUT", `/${path}/${id}`, { spec: { ...body(displayName).spec, ...more } }, { "if-match": "*" });
    const refused = (answer: { status: number; body: { errors?: unknown }; text: string }) => {
      expect([answer.status, answer.body.errors]).toEqual([
        422,
        [{ path: "spec.displayName", message: expect.stringMatching(/U\+202A to U\+202E.*leave them out/) }],
      ]);
      expect(answer.text).not.toContain("\u202e");
    };

    test("b118: is refused by the characters' numbers, and not repeated, as it is made and as it is changed", async () => {
      refused(await api.send("POST", `/${path}`, body(MARKED)));
      const { id } = (await api.send("POST", `/${path}`, body())).body;
      refused(await put(id, MARKED));
    });

    test("b118: that was stored before stays as it is while the rest changes, and is judged where it changes", async () => {
      const { id } = (await api.send("POST", `/${path}`, body("Before"))).body;
      await sql`update ${sql.table(path)} set display_name = ${MARKED} where id = ${id}`.execute(store().db);
      if (path === "keys") {
        await sql`update keys set spec = jsonb_set(spec, '{displayName}', to_jsonb(${MARKED}::text)) where id = ${id}`.execute(
          store().db,
        );
      }
      const more = { keys: { state: "Suspended" }, libraries: { description: "d" }, teams: { namespaces: [] } }[path];
      const changed = await put(id, MARKED, more);
      expect([changed.status, changed.body.spec]).toEqual([
        200,
        expect.objectContaining({ displayName: MARKED, ...more }),
      ]);
      refused(await put(id, `${MARKED}s`));
      expect((await put(id, "After")).body.spec.displayName).toBe("After");
      refused(await put(id, MARKED));
    });
  });
});
