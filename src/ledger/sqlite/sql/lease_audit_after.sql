SELECT seq, at, event, outcome, reason, tenant, agent, binding, connector_id, epoch, correlation, prev_hash, hash
FROM lease_audit WHERE seq > ? ORDER BY seq
