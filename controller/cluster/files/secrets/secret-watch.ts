/** Notices that a Secret's files were edited, replaced or removed, by any process. */
import { errorText } from "../../../../domain/error-text.ts";
import type { ClusterChange } from "../../port.ts";
import { isNamespaceName, isObjectName } from "../paths.ts";
import type { FilesSecrets } from "./secrets.ts";

/**
 * Number of looks at everything until a Secret that could not be read is announced again, until it can be: the reason
 * may be at a path that is not watched, such as behind a link.
 */
const LOOKS_PER_RETRY = 5;

export type SecretWatch = {
  /** Compares what was touched, or everything, with how it was last seen, and announces what differs. */
  look(touched: ReadonlySet<string> | undefined): Promise<undefined>;
};

export function createSecretWatch(
  secrets: Pick<FilesSecrets, "identify" | "list" | "takeBlocked">,
  announce: (change: ClusterChange) => void,
): SecretWatch {
  const seen = new Map<string, string>();
  let looks = 0;

  async function compare(namespace: string, name: string): Promise<void> {
    const key = `${namespace}/${name}`;
    // A Secret that cannot be read holds up no other.
    const identity = await secrets.identify(namespace, name).catch((error: unknown) => errorText(error));
    if (identity === seen.get(key)) return;
    if (identity === undefined) seen.delete(key);
    else seen.set(key, identity);
    announce({ of: "secret", namespace, name });
  }

  return {
    async look(touched) {
      const names = new Set([...(touched ?? [])].map(secretOf));
      if (touched === undefined || names.has("")) {
        for (const place of seen.keys()) names.add(place);
        for (const { namespace, name } of await secrets.list()) names.add(`${namespace}/${name}`);
      }
      for (const place of names) {
        const [namespace = "", name = ""] = place.split("/");
        if (isNamespaceName(namespace) && isObjectName(name)) await compare(namespace, name);
      }
      if (touched !== undefined || ++looks % LOOKS_PER_RETRY !== 0) return;
      for (const place of secrets.takeBlocked()) announce({ of: "secret", ...place });
    },
  };
}

/** Returns the Secret that a path below DATA/secrets belongs to; `""` if it may concern several. */
function secretOf(path: string): string {
  const [namespace, name] = path.split("/");
  return namespace !== undefined && name !== undefined ? `${namespace}/${name}` : "";
}
