/** What is noted of a version whose Secret may have been written. */
import { expect, it } from "vitest";
import { ClusterError, type SecretDraft } from "../../../controller/cluster/port.ts";
import { until } from "../../env/until.ts";
import { withCalls } from "../fixtures/cluster-calls.ts";
import { describeWorlds } from "../fixtures/setup.ts";
import { key, startWorld } from "../fixtures/world.ts";

type WriteAnswer = "stored and lost" | "refused" | "altered";

describeWorlds("a version whose Secret", (setup) => {
  const cases: readonly [string, readonly [WriteAnswer, ...WriteAnswer[]], string, boolean][] = [
    ["is refused by the first write", ["refused"], "SecretRefused", false],
    ["is refused after a write without an answer", ["stored and lost", "refused"], "SecretRefused", true],
    ["never held it", ["altered"], "SecretAltered", false],
    ["does not hold it after a write without an answer", ["stored and lost", "altered"], "SecretAltered", true],
  ];

  for (const [what, answers, reason, mayBeRead] of cases) {
    it(`c66: ${what}: it is known whether it may have been read`, async (context) => {
      const left = [...answers];
      let lose = async () => {};
      const wrap = withCalls(({ createSecret, replaceSecret }) => ({
        async createSecret(draft) {
          const answer = left.length > 1 ? left.shift() : left[0];
          if (answer === "refused") throw new ClusterError("Refused", "no Secret is let in");
          if (answer === "altered") return createSecret(rewritten(draft));
          await createSecret(draft);
          await lose();
          throw new ClusterError("Unclear", "no answer");
        },
        replaceSecret: (read, draft) => replaceSecret(read, rewritten(draft)),
      }));
      const world = await startWorld(context, { ...setup(), wrap });
      lose = () => world.loseSecret("agent");
      await world.write(key("agent"));
      await until("it is said", () => world.condition("Ready", "agent") === `False/${reason}`);
      const { id } = await world.stored("agent");
      // What is under way has ended then.
      await world.stop();
      const found = world.store.db.selectFrom("key_versions").select(["state", "may_be_read"]).where("key_id", "=", id);
      expect(await found.execute()).toEqual([{ state: "reserved", may_be_read: mayBeRead }]);
    });
  }
});

const rewritten = (draft: SecretDraft): SecretDraft => ({ ...draft, data: { ...draft.data, "api-key": "sealed" } });
