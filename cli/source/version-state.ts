import type { Status } from "../../domain/kinds/kinds.ts";

type VersionState = NonNullable<Status<"PlatformKey">["versions"]>[number]["state"];

const STATES: Readonly<Record<string, VersionState>> = {
  reserved: "Reserved",
  active: "Active",
  retiring: "Retiring",
  retired: "Retired",
  voided: "Voided",
  revoked: "Revoked",
};

/** Returns the state of a stored version as a status has it. A state of a later build counts as revoked. */
export function versionStateOf(stored: string): VersionState {
  return STATES[stored] ?? "Revoked";
}
