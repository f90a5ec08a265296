# The image of keyplane: docs/decisions/image.md. A release names both of its bases by digest too, as in
# gcr.io/distroless/nodejs26-debian13:nonroot@sha256:...

FROM node:26.10.0-trixie-slim AS build
WORKDIR /checkout
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY . .
# What keyplane version says that it was built of: git is not in here.
ARG KEYPLANE_COMMIT
RUN node scripts/image.ts /keyplane

FROM gcr.io/distroless/nodejs26-debian13:nonroot
COPY --from=build /keyplane /keyplane
ENV NODE_ENV=production
USER 65532:65532
EXPOSE 8080 8081
ENTRYPOINT ["/nodejs/bin/node", "/keyplane/dist/cli/main.js"]
