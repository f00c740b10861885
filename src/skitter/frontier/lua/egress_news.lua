#!lua
-- @include clock egresses
-- How egresses stand whose standing changed since a version.
-- KEYS[1] string   the shard's prefix
-- ARGV[1] number   clock
-- ARGV[2] number   the version that the caller has; 0 for all
-- ARGV[3] number   how many to tell of at most
-- Returns {version, {name, failures, cool-downs in a row, ms until it is over, …four for each}}
local version, since, limit = tonumber(redis.call('HGET', META, 'ev')) or 0, tonumber(ARGV[2]), tonumber(ARGV[3])
if since == version then return {version, {}} end
-- A server that lost its last writes counts from an earlier version: all is told anew.
if since > version then since = 0 end
local rows = redis.call('ZRANGEBYSCORE', P .. 'ev', '(' .. since, '+inf', 'WITHSCORES', 'LIMIT', 0, limit)
local reply = {}
for i = 1, #rows, 2 do tell_standing(reply, standing(rows[i])) end
if #rows == 2 * limit then version = tonumber(rows[#rows]) end
return {version, reply}
