import type { FastifyRequest } from "fastify";

/** A role in a team. */
type TeamRole = { readonly teamId: string; readonly role: string };

declare module "fastify" {
  interface FastifyRequest {
    /** The roles of a person who looks at a page of the console; undefined elsewhere, and before they are read. */
    viewerRoles: readonly TeamRole[] | undefined;
  }
}

/** The person who looks at a page. */
export type Viewer = {
  /** As the page shows them. */
  readonly name: string;
  /** Whether they run the installation, and so see every team. */
  readonly runsInstallation: boolean;
  /** Their roles in teams; undefined where they were not read. */
  readonly roles: readonly TeamRole[] | undefined;
  /** What their forms carry. */
  readonly csrf: string;
};

/** The viewer of a request's page; null where no person is signed in. */
export function findViewer({ session, managementPrincipal, viewerRoles }: FastifyRequest): Viewer | null {
  if (session === null) return null;
  const runsInstallation = typeof managementPrincipal?.as === "string";
  return { name: session.displayName, runsInstallation, roles: viewerRoles, csrf: session.csrfToken };
}

/** The viewer of a page that requires a session. */
export function viewerOf(request: FastifyRequest): Viewer {
  const viewer = findViewer(request);
  if (viewer === null) throw new Error("a page of the console was reached without a session");
  return viewer;
}
