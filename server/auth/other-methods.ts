import type { FastifyInstance, HTTPMethods } from "fastify";
import type { Product } from "../../domain/access/scopes.ts";
import { problem } from "../http/errors.ts";
import { productOf } from "./route-config.ts";

/**
 * Answers the methods that a plugin's routes leave out, once `register` has added them: a path that needs a key or a
 * token needs it for every method, and a caller who has one is told which methods there are. There is no implicit HEAD
 * or OPTIONS, and so no preflight.
 */
export async function refuseOtherMethods(
  app: FastifyInstance,
  register: (app: FastifyInstance) => void | Promise<void>,
): Promise<void> {
  const served = new Map<string, { methods: Set<string>; product: Product | "management" }>();
  app.addHook("onRoute", ({ routePath, method, config }) => {
    const { operation, management } = config ?? {};
    if (operation === undefined && management === undefined) return;
    const product = operation === undefined ? "management" : productOf({ operation });
    const entry = served.get(routePath) ?? { methods: new Set(), product };
    for (const name of [method].flat()) entry.methods.add(name.toUpperCase());
    served.set(routePath, entry);
  });
  await register(app);
  app.register(async (fallbacks) => {
    for (const [url, { methods, product }] of [...served]) {
      const rest = fallbacks.supportedMethods.filter((method) => !methods.has(method));
      if (rest.length === 0) continue;
      fallbacks.route({
        url,
        method: rest as HTTPMethods[],
        config: {
          ...(product === "management" ? { management: true } : { unservedMethodOf: product }),
          allow: [...methods].join(", "),
        },
        handler: () => {
          throw problem("method_not_allowed");
        },
      });
    }
  });
}
