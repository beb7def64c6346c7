# Dockerfile - an image whose default command runs the demonstration (docs/managed_servers.md). Not for production: a server
# needs the package, and no compiler.
FROM debian:bookworm-slim
WORKDIR /privacy_score
COPY scripts/install_packages.sh scripts/
RUN scripts/install_packages.sh demo && rm -rf /var/lib/apt/lists/*
COPY . .
# Compiled once, when the image is made.
RUN make -s -j "$(nproc)" demo-module
CMD ["./demo.sh"]
