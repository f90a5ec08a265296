/** `keyplane wait` on the data folder of a running `keyplane up`. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { main } from "../../../cli/program.ts";
import { until } from "../../env/until.ts";
import { type Installation, key, keyplane, team, type Up } from "../up.ts";

/** What ends the wait is the change, and never this. */
const LONG = ["--timeout", "10m"];
const READ_WRITE = "preset: MCPReadWrite";

export function testWait({ home, data, up: running }: Installation): void {
  let up: Up;

  describe("keyplane wait", () => {
    beforeAll(async () => {
      home.write(
        "waiting.yaml",
        team("waiting", "waiting") + key("agent", READ_WRITE, "waiting") + key("unowned", READ_WRITE, "unclaimed"),
      );
      up = running();
      await up.waitFor("waiting", "agent", "Ready");
      await up.waitFor("unclaimed", "unowned", "NamespaceUnclaimed");
    });

    test("ends at once where it is so already", async () => {
      for (const args of [
        ["key", "waiting/agent"],
        ["keys", "agent", "-n", "waiting", "--for", "condition=Ready=True"],
      ]) {
        expect(await keyplane(["wait", ...args, "--timeout", "0", ...data])).toEqual({
          code: 0,
          out: "platformkey.keyplane.dev/agent condition met\n",
          err: "",
        });
      }
      expect((await keyplane(["wait", "key", "waiting/none", "--for", "delete", "--timeout", "0", ...data])).code).toBe(
        0,
      );
      const { out } = await keyplane(["wait", "key", "waiting/agent", "-o", "yaml", ...data]);
      expect(parse(out)).toMatchObject({ met: true, object: { kind: "PlatformKey", metadata: { name: "agent" } } });
    });

    test("waits for what is not there yet, for what changes, and for what goes", async () => {
      const ready = keyplane(["wait", "key", "waiting/later", ...LONG, ...data]);
      home.write("later.yaml", key("later", READ_WRITE, "waiting"));
      expect((await ready).code).toBe(0);
      expect(up.readyOf("waiting", "later").status).toBe("True");
      const stalled = keyplane(["wait", "key", "waiting/later", "--for", "condition=Stalled", ...LONG, ...data]);
      await keyplane(["revoke", "waiting/later", ...data]);
      expect((await stalled).out).toBe("platformkey.keyplane.dev/later condition met\n");
      const gone = keyplane(["wait", "key", "waiting/later", "--for", "delete", ...LONG, ...data]);
      rmSync(join(home.manifests, "later.yaml"));
      expect(await gone).toEqual({ code: 0, out: "platformkey/waiting/later condition met\n", err: "" });
    });

    test("goes on while the last edit is refused, and says why", async () => {
      home.write("edited.yaml", key("edited", READ_WRITE, "waiting"));
      await up.waitFor("waiting", "edited", "Ready");
      home.write("edited.yaml", key("edited", "preset: MCPReadWrong", "waiting"));
      const once = ["wait", "key", "waiting/edited", "--timeout", "0", ...data];
      const { err } = await until("the edit is refused", async () => {
        const ended = await keyplane(once);
        return ended.code === 1 ? ended : undefined;
      });
      expect(err).toContain("its last change is not applied: ");
      expect(err).toContain("MCPReadWrong");
      home.write("edited.yaml", key("edited", "preset: MCPReadOnly", "waiting"));
      expect((await keyplane(["wait", "key", "waiting/edited", ...LONG, ...data])).code).toBe(0);
    });

    test("is 1 where it is not in time, and says what is so instead", async () => {
      const { code, out, err } = await keyplane(["wait", "key", "unclaimed/unowned", "--timeout", "100ms", ...data]);
      expect([code, out]).toEqual([1, ""]);
      expect(err).toMatch(
        /^keyplane: timed out after 100ms while waiting for condition=Ready of platformkey\/unclaimed\/unowned: Ready is False \(NamespaceUnclaimed\): .*\n$/,
      );
      const none = await keyplane(["wait", "key", "waiting/none", "--timeout", "0", "-o", "json", ...data]);
      expect([none.code, JSON.parse(none.out)]).toEqual([1, { met: false, object: null }]);
    });

    test("is 1 where it is interrupted: what comes behind && does not run", async () => {
      const stop = new AbortController();
      let err = "";
      const waiting = main(["wait", "key", "waiting/none", ...LONG, ...data], {
        env: {},
        out: () => {},
        err: (text) => {
          err += text;
        },
        stopSignal: () => stop.signal,
      });
      stop.abort();
      expect([await waiting, err]).toEqual([
        1,
        expect.stringMatching(/^keyplane: interrupted while waiting .*: there is none\n$/),
      ]);
    });

    test.each([
      [["kye", "agent"], "wait kye: there is no such kind: did you mean key?"],
      [["key", "agent", "--for", "condition=Redy"], "did you mean Ready?"],
      [["key", "agent", "--timeout", "soon"], "--timeout soon: write a duration"],
    ])("of %j is wrong use", async (args, says) => {
      const { code, err } = await keyplane(["wait", ...args, ...data]);
      expect([code, err]).toEqual([2, expect.stringContaining(says)]);
    });

    test("looks at no server, which knows no conditions", async () => {
      const { code, err } = await keyplane(["wait", "key", "agent"], { KEYPLANE_SERVER: up.url });
      expect([code, err]).toEqual([
        2,
        "keyplane: say where to look: --data DIR of keyplane up, or --kubeconfig FILE of a cluster\n",
      ]);
    });
  });
}
