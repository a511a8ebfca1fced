#!/bin/sh
set -eu
pg_dump shop | gzip -9 > "shop-$(date +%F).sql.gz"
rclone copy shop-*.sql.gz archive:nightly
