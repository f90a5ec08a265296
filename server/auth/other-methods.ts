import type { FastifyContextConfig, FastifyInstance, HTTPMethods } from "fastify";
import type { Product } from "../../domain/access/scopes.ts";
import { named } from "../http/named-plugin.ts";
import { problem } from "../http/problems/problem.ts";
import { productOf } from "./route-config.ts";

/**
 * Answers the methods that a plugin's routes leave out, once `register` has added them. A path that needs a key or a
 * token needs it for every method, and the answer to an authenticated caller lists the served methods. There is no
 * implicit OPTIONS, and so no preflight; HEAD is served if a route has it.
 */
export async function refuseOtherMethods(
  app: FastifyInstance,
  register: (app: FastifyInstance) => void | Promise<void>,
): Promise<void> {
  const served = new Map<string, { methods: Set<string>; product: Product | "management" | "console" }>();
  app.addHook("onRoute", ({ routePath, method, config }) => {
    const { operation, management, console: page } = config ?? {};
    if (operation === undefined && management === undefined && page === undefined) return;
    const product = operation !== undefined ? productOf({ operation }) : page ? "console" : "management";
    const entry = served.get(routePath) ?? { methods: new Set(), product };
    for (const name of [method].flat()) entry.methods.add(name.toUpperCase());
    served.set(routePath, entry);
  });
  await register(app);
  const addFallbacks = async (fallbacks: FastifyInstance) => {
    for (const [url, { methods, product }] of [...served]) {
      const rest = fallbacks.supportedMethods.filter((method) => !methods.has(method));
      if (rest.length === 0) continue;
      fallbacks.route({
        url,
        method: rest as HTTPMethods[],
        config: {
          ...accessOf(product),
          allow: [...methods].join(", "),
        },
        handler: () => {
          throw problem("method_not_allowed");
        },
      });
    }
  };
  app.register(named("other methods", addFallbacks));
}

function accessOf(product: Product | "management" | "console"): FastifyContextConfig {
  if (product === "management") return { management: true };
  return product === "console" ? { console: true } : { unservedMethodOf: product };
}
