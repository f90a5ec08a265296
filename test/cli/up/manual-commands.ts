/** What is done by hand to keys that are declared, and to those that are not. */
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { ownCommand } from "../../../cli/output/own-command.ts";
import { until } from "../../env/until.ts";
import { type Installation, key, keyplane, makeHome, team, tokenOf, type Up } from "../up.ts";

export function testManualCommands({ home, data, up: running }: Installation): void {
  describe("what is done by hand:", () => {
    let up: Up;
    let token: string;

    beforeAll(async () => {
      home.write("ops.yaml", team("ops", "dev"));
      for (const name of ["revoked", "rotated", "cut", "shown"]) home.write(`${name}.yaml`, key(name));
      up = running();
      for (const name of ["revoked", "rotated", "cut", "shown"]) await up.waitFor("dev", name, "Ready");
      token = tokenOf(home);
    });

    const manage = (path: string, authorization: string, method = "GET") =>
      fetch(`${up.url}/api/v1${path}`, { method, headers: { authorization } });

    describe("keyplane revoke", () => {
      test("ends a key everywhere, wins over its manifest, and only a new declaration brings a new key", async () => {
        const secret = up.secretOf("dev", "revoked");
        expect(await up.call(secret)).toBe(200);
        const { code, out } = await keyplane(["revoke", "dev/revoked", "--reason", "seen in a log", ...data]);
        // The receipt says that every replica refuses it: at that moment, not soon.
        expect(await up.call(secret)).toBe(401);
        expect([code, out]).toEqual([
          0,
          expect.stringMatching(/^revoked dev\/revoked \(inf_.{8}\.\.\.\): change \d+\nconfirmed/),
        ]);

        await up.waitFor("dev", "revoked", "Revoked");
        await until("the receipt", () => up.statusOf("dev", "revoked").revocation.confirmedAt);
        const { conditions, revocation } = up.statusOf("dev", "revoked");
        expect(conditions).toContainEqual(expect.objectContaining({ type: "Stalled", status: "True" }));
        expect(revocation).toEqual({
          sequence: Number(/change (\d+)/.exec(out)?.[1]),
          confirmedAt: expect.any(String),
        });

        home.write("revoked.yaml", key("revoked", 'preset: MCPReadOnly, rotation: { trigger: "again" }'));
        await until("the manifest's change to be seen", () => up.statusOf("dev", "revoked").observedGeneration === 2);
        expect(up.readyOf("dev", "revoked")).toMatchObject({ status: "False", reason: "Revoked" });
        expect(up.statusOf("dev", "revoked").versions).toHaveLength(1);
        expect(await up.call(secret)).toBe(401);

        rmSync(join(home.manifests, "revoked.yaml"));
        await until("the declaration to be gone", () => !exists("status/dev/PlatformKey/revoked.json"));
        home.write("revoked.yaml", key("revoked"));
        await until("a new key", () => up.readyOf("dev", "revoked").reason === "Ready");
        const next = up.secretOf("dev", "revoked");
        expect(await up.call(next)).toBe(200);
        expect([next === secret, await up.call(secret)]).toEqual([false, 401]);
      });

      test("of a key that is revoked already is done, and says so", async () => {
        home.write("twice.yaml", key("twice"));
        await until("the key", () => up.readyOf("dev", "twice").reason === "Ready");
        await keyplane(["revoke", "dev/twice", ...data]);
        const { code, out } = await keyplane(["revoke", up.statusOf("dev", "twice").keyID, ...data]);
        expect([code, out]).toEqual([0, expect.stringContaining("is revoked already (ByHand)\nconfirmed")]);
      });

      test("of a key that does not exist is 1, and says where to look", async () => {
        const { code, err } = await keyplane(["revoke", "dev/nowhere", ...data]);
        expect([code, err]).toEqual([
          1,
          `keyplane: there is no key dev/nowhere: see ${ownCommand({})} get keys ${data.join(" ")}\n`,
        ]);
      });

      test("does not take a secret on its command line", async () => {
        const { code, out, err } = await keyplane(["revoke", up.secretOf("dev", "shown"), ...data]);
        expect([code, out]).toEqual([2, ""]);
        expect(err).not.toContain("inf_");
        expect(await up.call(up.secretOf("dev", "shown"))).toBe(200);
      });
    });

    describe("keyplane revoke-subject", () => {
      test("ends what a subject's tokens and sessions open of a team, and the audit log says why", async () => {
        const reason = ["--reason", "a lost laptop"];
        const { code, out } = await keyplane(["revoke-subject", "ann", "--team", "ops", ...reason, ...data]);
        expect([code, out]).toEqual([
          0,
          expect.stringMatching(
            /^team ops refuses the tokens and console sessions of ann that began until now: change \d+\nconfirmed: every replica refuses them\n$/,
          ),
        ]);
        const audit = await keyplane(["audit", "--action", "subject.revoked", "-o", "json", ...data]);
        const event = JSON.parse(audit.out);
        expect(event).toMatchObject({ action: "subject.revoked", team: "ops", detail: { subject: "ann" } });
        expect(audit.out).toContain("a lost laptop");
        const again = await keyplane(["revoke-subject", "ann", "--team", event.teamId, ...data]);
        expect(again.code, again.err).toBe(0);
      });

      test.each([
        ["without a team", ["ann"], 2, "keyplane: --team is needed: its name or id\n"],
        [
          "of no team",
          ["ann", "--team", "absent"],
          1,
          `keyplane: there is no team absent: see ${ownCommand({})} get teams ${data.join(" ")}\n`,
        ],
        [
          "of a token",
          ["eyJhbGciOiJFUzI1NiJ9.e30.x", "--team", "ops"],
          2,
          "keyplane: that is a token, which belongs on no command line: name the subject that is in it\n",
        ],
        ["of what no subject is", ["a\nb", "--team", "ops"], 1, expect.stringContaining("subject")],
      ])("%s is refused, and says why", async (_what, args, code, err) => {
        expect(await keyplane(["revoke-subject", ...args, ...data])).toMatchObject({ code, out: "", err });
      });
    });

    async function post(path: string, body: object): Promise<{ id: string; secret: string }> {
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
      const made = await fetch(`${up.url}/api/v1${path}`, { method: "POST", headers, body: JSON.stringify(body) });
      return JSON.parse(await made.text());
    }

    /** The secret of a new key that was made by hand. */
    async function makeByHand(name: string, more: object = {}): Promise<{ id: string; secret: string }> {
      const { id } = await post("/keys", { name, team: "ops", spec: { preset: "MCPReadOnly" }, ...more });
      const { secret } = await post(`/keys/${id}/versions`, { overlap: "0s" });
      return { id, secret };
    }

    describe("keyplane export", () => {
      test("prints the manifest that takes over a key which was made by hand, as YAML or JSON", async () => {
        const { id, secret } = await makeByHand("by-hand");
        const [yaml, json] = [
          await keyplane(["export", id, "--namespace", "dev", ...data]),
          await keyplane(["export", id, "-o", "json", ...data]),
        ];
        expect([yaml.code, json.code, parse(yaml.out)]).toEqual([0, 0, JSON.parse(json.out)]);
        home.write("by-hand.yaml", yaml.out);
        await up.waitFor("dev", "by-hand", "Ready");
        expect([up.statusOf("dev", "by-hand").keyID, await up.call(secret)]).toEqual([id, 200]);
        const plan = await keyplane(["plan", "-f", home.manifests, ...data]);
        expect(plan.out, "no Secret is missed, and nothing to be minted").not.toContain("by-hand");
        const other = makeHome();
        other.write("team.yaml", team("ops", "dev"));
        other.write("by-hand.yaml", `${yaml.out.trimEnd()}\n  secret: { template: Env }\n`);
        const change = await keyplane(["plan", "-f", other.manifests, ...data]);
        expect(change.out, "there is no Secret to render again").not.toContain("render");
        other.remove();
      });

      test("is 1 where there is none, and says why", async () => {
        const { code, out, err } = await keyplane(["export", "dev/shown", ...data]);
        expect([code, out]).toEqual([1, ""]);
        expect(err).toContain("PlatformKey dev/shown");
      });
    });

    describe("keyplane import", () => {
      test("writes a file for each key that was made by hand, and each is taken over as it is applied", async () => {
        const [one, two] = [await makeByHand("one"), await makeByHand("two")];
        await makeByHand("programmed", { managedBy: "urn:pulumi:a" });
        const folder = makeHome();
        const says = [
          expect.stringMatching(/^would write dev\/(one|two)\.yaml: (one|two) of team ops \(inf_.{8}\.\.\.\)$/),
          expect.stringMatching(/^would write /),
          expect.stringMatching(
            /^2 of 2 keys that were made by hand; \d+ others are declared, or managed by programs$/,
          ),
        ];
        const dry = await keyplane(["import", "--team", "ops", ...data]);
        expect([dry.code, dry.out.split("\n").slice(0, 3), readdirSync(folder.manifests)]).toEqual([0, says, []]);
        const written = await keyplane(["import", folder.manifests, "--team", "ops", ...data]);
        expect([written.code, readdirSync(join(folder.manifests, "dev")).sort()]).toEqual([
          0,
          ["one.yaml", "two.yaml"],
        ]);
        expect(written.out).not.toContain(one.secret.slice(12));

        const plan = await keyplane(["plan", "-f", home.manifests, folder.manifests, ...data]);
        expect(plan.out).toContain(`+ take over key ${one.id} as PlatformKey dev/one`);
        for (const name of ["one", "two"]) {
          home.write(`${name}.yaml`, readFileSync(join(folder.manifests, "dev", `${name}.yaml`), "utf8"));
          await up.waitFor("dev", name, "Ready");
        }
        expect(up.statusOf("dev", "two").keyID).toBe(two.id);
        expect([await up.call(one.secret), await up.call(two.secret)]).toEqual([200, 200]);
        const again = await keyplane(["import", "--team", "ops", ...data]);
        expect([again.code, again.out]).toEqual([0, expect.stringMatching(/^0 of 0 keys that were made by hand;/)]);
        folder.remove();
      });

      test("leaves out what cannot be declared, says why, and writes over nothing", async () => {
        await makeByHand("mine");
        const folder = makeHome();
        const elsewhere = await keyplane(["import", folder.manifests, "--namespace", "unowned", ...data]);
        expect([elsewhere.code, readdirSync(folder.manifests)]).toEqual([1, []]);
        expect(elsewhere.out).toMatch(/^left out mine of team ops \(inf_.*\), key_\w+: .*write one of dev/m);
        mkdirSync(join(folder.manifests, "dev"));
        folder.write("dev/mine.yaml", "mine");
        const there = await keyplane(["import", folder.manifests, ...data]);
        expect([there.code, there.out]).toEqual([1, expect.stringContaining("dev/mine.yaml is there already")]);
        expect(readFileSync(join(folder.manifests, "dev/mine.yaml"), "utf8")).toBe("mine");
        folder.remove();
      });
    });

    describe("keyplane rotate", () => {
      test("puts one new key into the Secret, and the old one works on", async () => {
        const old = up.secretOf("dev", "rotated");
        const { code, out } = await keyplane(["rotate", "dev/rotated", ...data]);
        expect([code, out]).toEqual([0, expect.stringMatching(/version 2 \(inf_.{8}\.\.\.\) is in its Secret/)]);
        const fresh = up.secretOf("dev", "rotated");
        expect([fresh === old, await up.call(fresh), await up.call(old)]).toEqual([false, 200, 200]);
        // The request is fulfilled: what makes the controller look again mints nothing more.
        home.write("rotated.yaml", key("rotated", "preset: MCPReadWrite, displayName: Seen again"));
        await until("another look at it", () => up.statusOf("dev", "rotated").observedGeneration === 2);
        expect(up.statusOf("dev", "rotated").currentVersion).toBe(2);
        expect(up.secretOf("dev", "rotated")).toBe(fresh);
      });

      test("--revoke-old ends all old ones as soon as the new one is delivered, and names each", async () => {
        const first = up.secretOf("dev", "cut");
        await keyplane(["rotate", "dev/cut", ...data]);
        const second = up.secretOf("dev", "cut");
        const { code, out } = await keyplane(["rotate", "dev/cut", "--revoke-old", ...data]);
        const ended = /version 2 \(inf_.{8}\.\.\.\) no longer works\nversion 1 \(inf_.{8}\.\.\.\) no longer works\n$/;
        expect([code, out]).toEqual([0, expect.stringMatching(ended)]);
        expect(await Promise.all([up.secretOf("dev", "cut"), second, first].map((each) => up.call(each)))).toEqual([
          200, 401, 401,
        ]);
      });

      test("of a revoked key is refused", async () => {
        home.write("ended.yaml", key("ended"));
        await until("the key", () => up.readyOf("dev", "ended").reason === "Ready");
        await keyplane(["revoke", "dev/ended", ...data]);
        const { code, err } = await keyplane(["rotate", "dev/ended", ...data]);
        expect([code, err]).toEqual([1, expect.stringContaining("revoked, which is final")]);
      });
    });

    describe("what a command has done, for a program", () => {
      /** The one document that a command prints. */
      async function printed(...args: string[]) {
        const [json, err] = await keyplane([...args, "-o", "json", ...data]).then(
          ({ out, err }) => [out, err] as const,
        );
        expect(err).toBe("");
        return JSON.parse(json);
      }

      test("names the new version of rotate, and until when the old ones work", async () => {
        home.write("programmed.yaml", key("programmed"));
        await up.waitFor("dev", "programmed", "Ready");
        const { keyID } = up.statusOf("dev", "programmed");
        const before = up.secretOf("dev", "programmed");
        const rotated = await printed("rotate", "dev/programmed");
        expect(rotated).toMatchObject({
          key: { id: keyID, namespace: "dev", name: "programmed", team: "ops", prefix: before.slice(0, 12) },
          sequence: expect.any(Number),
          delivered: { number: 2, prefix: up.secretOf("dev", "programmed").slice(0, 12), state: "active" },
          old: [{ number: 1, state: "retiring", retiresAt: expect.any(String) }],
        });
        expect(JSON.stringify(rotated)).not.toContain(up.secretOf("dev", "programmed").slice(12));
      });

      test("has the receipt of revoke, and whether it was one already", async () => {
        home.write("ended-twice.yaml", key("ended-twice"));
        await up.waitFor("dev", "ended-twice", "Ready");
        const first = await printed("revoke", "dev/ended-twice");
        expect(first).toMatchObject({
          key: { name: "ended-twice" },
          wasRevoked: false,
          revocation: { confirmed: true, sequence: expect.any(Number), reason: "ByHand" },
        });
        const yaml = await keyplane(["revoke", "dev/ended-twice", "-o", "yaml", ...data]);
        expect(parse(yaml.out)).toMatchObject({ ...first, wasRevoked: true });
      });

      test("has the receipt of revoke-subject, and the keys that work on", async () => {
        expect(await printed("revoke-subject", "ann", "--team", "ops")).toMatchObject({
          ...{ subject: "ann", team: "ops", confirmed: true, sequence: expect.any(Number), keys: [] },
        });
      });

      test("says of import what is written where, and what is left out and why", async () => {
        const { id } = await makeByHand("by-program");
        const found = await printed("import", "--team", "ops");
        expect(found).toMatchObject({ written: false, leftOut: [] });
        expect(found.taken).toContainEqual(expect.objectContaining({ id, path: "dev/by-program.yaml" }));
        const folder = makeHome();
        mkdirSync(join(folder.manifests, "dev"));
        folder.write("dev/by-program.yaml", "mine");
        const again = await keyplane(["import", folder.manifests, "--team", "ops", "-o", "json", ...data]);
        expect([again.code, JSON.parse(again.out).leftOut]).toEqual([
          1,
          [expect.objectContaining({ id, why: expect.stringContaining("is there already") })],
        ]);
        folder.remove();
      });

      test("is the link of console", async () => {
        expect(await printed("console")).toEqual({ url: expect.stringMatching(/\/dashboard\/sign-in\?link=/) });
      });
    });

    describe("the management API of keyplane up", () => {
      test("b11: takes its token and no key, and the products take a key and no token", async () => {
        const secret = up.secretOf("dev", "shown");
        expect((await manage("/keys", `Bearer ${token}`)).status).toBe(200);
        const refused = await Promise.all(
          [`Bearer ${secret}`, "Bearer kpt_wrong", "", `Bearer ${token.toUpperCase()}`].map((credential) =>
            manage("/keys", credential),
          ),
        );
        const answers = await Promise.all(refused.map(async (answer) => `${answer.status} ${await answer.text()}`));
        expect(new Set(answers).size).toBe(1);
        expect(answers[0]).toMatch(/^401 /);
        expect([await up.call(secret), await up.call(token)]).toEqual([200, 401]);
      });

      test("its token is in a file that no other user may read, is no key, and is neither printed nor stored", async () => {
        expect(statSync(join(home.data, "bootstrap-token")).mode & 0o777).toBe(0o600);
        expect(statSync(join(home.data, "server.json")).mode & 0o777).toBe(0o600);
        expect(token).toMatch(/^kpt_[\w-]{43}$/);
        expect(up.output()).not.toContain(token.slice(4, 20));
        expect(readFileSync(join(home.data, "server.json"), "utf8")).not.toContain(token.slice(4, 20));
      });

      test("b64: the list holds no secret", async () => {
        const text = await (await manage("/keys?limit=200", `Bearer ${token}`)).text();
        const secret = up.secretOf("dev", "shown");
        expect(text).toContain(secret.slice(0, 12));
        expect(text).not.toContain(secret.slice(12, 24));
      });
    });

    function exists(path: string): boolean {
      return statSync(join(home.data, path), { throwIfNoEntry: false }) !== undefined;
    }
  });
}
