DROP TABLE blob_refs;
DROP TABLE blobs;
