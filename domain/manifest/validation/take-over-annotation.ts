import { TAKE_OVER_ANNOTATION } from "../../key/observed/take-over.ts";
import { isKeyId } from "../../key/stored/key-id.ts";
import type { PlatformKeySpec } from "../../kinds/generated/platform-key.ts";
import type { Kind } from "../../kinds/kinds.ts";
import type { Complaint } from "../document/diagnostic.ts";
import { isRecord } from "../document/identity.ts";

/** Returns the id of the key to take over, from an object's metadata; null for none, and for other kinds. */
export function takeOverOf(kind: Kind, metadata: unknown): string | null {
  const annotations = isRecord(metadata) ? metadata.annotations : undefined;
  const keyId = isRecord(annotations) ? annotations[TAKE_OVER_ANNOTATION] : undefined;
  return kind === "PlatformKey" && typeof keyId === "string" ? keyId : null;
}

/** Warns of a take-over that a controller will refuse. The other reasons for a refusal depend on the key itself. */
export function takeOverWarnings(spec: PlatformKeySpec, keyId: string | null): Complaint[] {
  const path = ["metadata", "annotations", TAKE_OVER_ANNOTATION];
  if (keyId === null) return [];
  if (!isKeyId(keyId)) return [{ path, message: "is no key's id: copy it from the key's page in the console" }];
  if (spec.source.type === "ImportHash") return [];
  return [{ path, message: "wants spec.source to be of type ImportHash: export the key's manifest from its page" }];
}
