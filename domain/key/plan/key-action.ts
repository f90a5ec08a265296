import type { KeyPolicy } from "../declaration/key-policy.ts";
import type { MintReason } from "../issuance/issuance-policy.ts";
import type { RevocationReason } from "../stored/stored-key.ts";
import type { KeptEnd } from "../stored/version-end.ts";
import type { SupersededReservation } from "../stored/version-slots.ts";

/** A step of a plan, with one effect. */
export type KeyAction =
  | { readonly do: "AddFinalizer" }
  | {
      readonly do: "Reserve";
      readonly number: number;
      readonly newKey: boolean;
      readonly policy: KeyPolicy;
      readonly why: MintReason;
      /** Lost reservation that makes way for this one; null if none has to. */
      readonly supersedes: Omit<SupersededReservation, "from"> | null;
    }
  | { readonly do: "Import"; readonly policy: KeyPolicy; readonly digest: string; readonly prefix: string }
  /** Makes a key that was made by hand the declaration's own; its policy is the next step. */
  | { readonly do: "TakeOver"; readonly keyId: string }
  /** Notes that the version may be read from here on, and writes the Secret. */
  | { readonly do: "Publish"; readonly number: number }
  | { readonly do: "Activate"; readonly number: number; readonly retireOldAt: number }
  /** Stores the policy. `expiresAfter` counts anew from the mint of each living version, except those in `keptEnds`. */
  | {
      readonly do: "UpdatePolicy";
      /** Generation of the declaration that is applied with it, or was applied before. */
      readonly generation: number;
      readonly policy: KeyPolicy;
      readonly expiresAfter: number | null;
      readonly keptEnds?: readonly KeptEnd[];
    }
  /** Ends the old versions whose deadline has passed. */
  | { readonly do: "Retire" }
  /** Ends an old version before its deadline: its successor has been adopted. */
  | { readonly do: "RetireAdopted"; readonly number: number }
  | { readonly do: "Render" }
  | { readonly do: "Restart"; readonly version: number }
  | { readonly do: "Revoke"; readonly reason: RevocationReason }
  | { readonly do: "DetachSecret" }
  | { readonly do: "Release" }
  | { readonly do: "DeleteSecret" }
  | { readonly do: "ReleaseFinalizer" }
  /** Rests until something changes, or until `requeueAt`. */
  | { readonly do: "Nothing" }
  /** Waits for replicas to confirm the last change, with nothing else to do. The status says so where a version waits for long. */
  | { readonly do: "Wait" };

/** An action on the store alone. Many keys may take such actions in one transaction. */
export type StoreAction = Extract<KeyAction, { do: "Revoke" | "UpdatePolicy" }>;

export const NOTHING: KeyAction = { do: "Nothing" };
export const WAIT: KeyAction = { do: "Wait" };
