import { expect, test } from "vitest";
import { handleInSlots } from "../../../../server/auth/management/handle-in-slots.ts";
import { KeyIndex } from "../../../../server/key-index/key-index.ts";
import { ManagementSlots } from "../../../../store/database/management-slots.ts";

type Hook = (request: unknown, reply: unknown, done: () => void) => void;

test.each(["GET", "HEAD"])("b154: a change waits for no %s of its team", async (method) => {
  const slots = new ManagementSlots({ running: 4, runningPerTeam: 1, waiting: 10, waitingPerTeam: 10 });
  const hook = handleInSlots({ index: new KeyIndex() }) as unknown as Hook;
  const managementPrincipal = { actor: "ann", as: { subject: "ann", serviceAccount: null, groups: [], issuedAt: 0 } };
  const reply = { raw: { once: () => {} } };
  const take = (of: string) =>
    new Promise<() => void>((resolve, reject) => {
      const request = { managementPrincipal, raw: { method: of } };
      hook(request, reply, () => void slots.take().then(resolve, reject));
    });
  const first = await take(method);
  const others = [take(method), take(method)];
  (await take("POST"))();
  first();
  for (const taken of others) (await taken)();
  expect(others).toHaveLength(2);
});
