import type { FastifyInstance } from "fastify";
import { principalOf } from "../../../auth/management/author.ts";
import type { Management } from "../../context.ts";
import { managedRoute } from "../../managed-route.ts";
import { rightsOf } from "../../rights.ts";
import { type KeyIdParams, keyIdOf } from "../request/key-request.ts";
import { showKey } from "../shown/shown-key.ts";
import { adviseKey, KEY_ADVICE } from "./key-advice.ts";

/** Serves the advice on a key: the access that would have been enough, for those who may see the key. */
export function keyAdviceRoutes(app: FastifyInstance, { store, clock, receipts }: Management): void {
  app.get<{ Params: KeyIdParams }>(
    "/keys/:id/advice",
    {
      config: managedRoute({
        summary:
          "Say what scopes, gateway, models, networks and limits would have been enough for a key's last 30 days",
        response: KEY_ADVICE,
      }),
    },
    async (request) => {
      const rights = await rightsOf(store.db, principalOf(request));
      const receiptOf = await receipts.read();
      const now = clock.now();
      return adviseKey(store.db, await showKey({ db: store.db, receiptOf, now }, rights, keyIdOf(request)), now);
    },
  );
}
