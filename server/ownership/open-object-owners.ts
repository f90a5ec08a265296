import type { Clock } from "../../runtime/clock.ts";
import type { Store } from "../../store/database/store.ts";
import {
  chargeOnce,
  endKeptObject,
  findCharged,
  findOwnedOrigins,
  recordOwners,
} from "../../store/gateways/kept-objects.ts";
import { ObjectOwners } from "./object-owners.ts";

/** Opens a thread's owners of what upstreams keep, which the database has. */
export function openObjectOwners({ db }: Pick<Store, "db">, { monotonic }: Pick<Clock, "monotonic">): ObjectOwners {
  return new ObjectOwners({
    record: (made) => recordOwners(db, made),
    find: (questions) => findOwnedOrigins(db, questions),
    end: (teamId, object) => endKeptObject(db, teamId, object),
    charge: (objects) => chargeOnce(db, objects),
    findCharged: (questions) => findCharged(db, questions),
    monotonic,
  });
}
