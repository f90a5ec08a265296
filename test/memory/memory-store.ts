import type { Store } from "../../store/database/store.ts";
import { openMigrated } from "../env/database/engines.ts";
import { addTeamsWithLibraries } from "./libraries.ts";

/** A database with two teams and their libraries. */
export async function openMemoryStore(): Promise<Store> {
  const store = await openMigrated();
  await addTeamsWithLibraries(store);
  return store;
}
