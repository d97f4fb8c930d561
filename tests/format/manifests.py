ID = "goH9ontlS-uQ6q8sq1Nrgg"
FIXED = {
    "version": "1",
    "chunkIndex": {
        "type": "fixed",
        "originalChunkSize": 100,
        "originalFileSize": 250,
        "transformedChunkSize": 110,
        "finalTransformedChunkSize": 60,
    },
    "segmentIndexes": {
        "offset": {"position": 0, "size": 8},
        "timestamp": {"position": 8, "size": 12},
        "producerSnapshot": {"position": 20, "size": 10},
        "leaderEpoch": {"position": 30, "size": 5},
        "transaction": None,
    },
    "compression": False,
}
