package org.apache.kafka.server.log.remote.metadata.storage; // what is asked is not public

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentId;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentMetadata;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentMetadataUpdate;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentState;
import org.apache.kafka.server.log.remote.storage.RemoteResourceNotFoundException;

/**
 * RemoteLogMetadataCache, asked: of each history of remote segments on the standard input (a JSON object a line) it prints the segment, or
 * null, that serves each of the (leader epoch, offset) asked for.
 */
public final class RemoteSegments {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final TopicIdPartition PARTITION = new TopicIdPartition(new Uuid(1, 1), new TopicPartition("t", 0));

    private RemoteSegments() {}

    public static void main(String[] args) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            System.out.println(JSON.writeValueAsString(answers(JSON.readTree(line))));
        }
    }

    private static List<Integer> answers(JsonNode history) throws Exception {
        RemoteLogMetadataCache cache = new RemoteLogMetadataCache();
        cache.markInitialized();
        Map<RemoteLogSegmentId, Integer> numbers = new HashMap<>();
        for (JsonNode event : history.get("events")) {
            int number = event.get("segment").asInt();
            RemoteLogSegmentId id = new RemoteLogSegmentId(PARTITION, new Uuid(2, number));
            numbers.put(id, number);
            if (event.has("epochs")) {
                TreeMap<Integer, Long> epochs = new TreeMap<>();
                event.get("epochs").properties().forEach(epoch -> epochs.put(Integer.parseInt(epoch.getKey()), epoch.getValue().asLong()));
                cache.addCopyInProgressSegment(
                    new RemoteLogSegmentMetadata(id, event.get("start").asLong(), event.get("end").asLong(), -1L, 1, 0L, 1, epochs));
            } else {
                try {
                    RemoteLogSegmentState state = RemoteLogSegmentState.valueOf(event.get("state").asText());
                    cache.updateRemoteLogSegmentMetadata(
                        new RemoteLogSegmentMetadataUpdate(id, 0L, java.util.Optional.empty(), state, 1));
                } catch (RemoteResourceNotFoundException | IllegalStateException refused) {
                    // what does not fit is passed over
                }
            }
        }
        List<Integer> answers = new ArrayList<>();
        for (JsonNode query : history.get("queries")) {
            answers.add(cache.remoteLogSegmentMetadata(query.get(0).asInt(), query.get(1).asLong()).map(found -> numbers.get(found.remoteLogSegmentId())).orElse(null));
        }
        return answers;
    }
}
