# prefstream as an image: docker build -t prefstream .
# The command line is its entry point; /job is for the job folder, and compose.yaml shows how to use it.

FROM node:24-slim AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
# Without the scripts of packages: no Node beside the image's own, and no build before the sources are here.
RUN npm ci --ignore-scripts
COPY . .
# Builds dist/ first.
RUN npm pack

FROM node:24-slim AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --ignore-scripts
COPY --from=build /build/prefstream-*.tgz ./
RUN mkdir node_modules/prefstream && tar -xzf prefstream-*.tgz -C node_modules/prefstream --strip-components=1

FROM node:24-slim
ENV NODE_ENV=production
# As `npm install prefstream effect` has it: a pipeline file in /app finds the package.
COPY --from=packages /app/node_modules /app/node_modules
# /job and /service are for data; a new volume there belongs to the user, too.
RUN ln -s /app/node_modules/prefstream/dist/bin.js /usr/local/bin/prefstream && install -d -o node -g node /job /service
USER node
WORKDIR /job
# It finishes pending requests first, within 65 seconds: give it `docker stop -t 75`.
STOPSIGNAL SIGTERM
ENTRYPOINT ["prefstream"]
CMD ["--help"]
