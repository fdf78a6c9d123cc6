import { keepPreviousData, useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { InfiniteData, UseInfiniteQueryResult, UseMutationResult, UseQueryResult } from '@tanstack/react-query';
import { useAccounts } from './accounts.ts';
import { request } from './request.ts';
import type { Page } from './types.ts';

export type ReadOptions = {
  /** Time between two reads, in ms; undefined if the data is read only once. */
  readonly everyMs?: number;
  readonly enabled?: boolean;
  /** True if a form starts with the data: what an earlier page read may have been reverted since, and is not shown. */
  readonly isEdited?: boolean;
};

export type OneOptions<Reply> = ReadOptions & {
  /** With `everyMs`: whether to read again after this reply; undefined before the first. */
  readonly repeatsAfter?: (reply: Reply | undefined) => boolean;
  /** Names what a `path` with the current time reads: its reply stays shown until that of a later path arrives. */
  readonly name?: string;
};

export type ListOptions = ReadOptions & {
  /** Shows the previous list while the list of a new path loads. */
  readonly keepsPrevious?: boolean;
};

/**
 * Reads `path`. Replies are kept for the key or user that is signed in: the next one is shown none of them. `data` of the
 * result is the reply, undefined while it loads.
 */
export function useRead<Reply>(
  path: string,
  { everyMs, enabled = true, isEdited = false, repeatsAfter = () => true, name = path }: OneOptions<Reply> = {},
): UseQueryResult<Reply> {
  const { current } = useAccounts();
  return useQuery<Reply>({
    queryKey: [current, name, ...editedKey(isEdited)],
    queryFn: () => request<Reply>('GET', path),
    enabled,
    ...(isEdited ? { gcTime: 0 } : {}),
    ...(everyMs === undefined ? {} : { refetchInterval: ({ state }) => repeatsAfter(state.data) && everyMs }),
  });
}

/**
 * Reads a list page by page. `path` has no cursor and may have a query. With `everyMs`, all pages read so far are read
 * again, after an interval of `everyMs` times the number of pages.
 */
export function useList<Entity, Reply extends Page<Entity> = Page<Entity>>(
  path: string,
  { everyMs, enabled = true, keepsPrevious = false, isEdited = false }: ListOptions = {},
): UseInfiniteQueryResult<{ readonly pages: readonly Reply[] }> & { readonly entities: readonly Entity[] } {
  const { current } = useAccounts();
  const join = path.includes('?') ? '&' : '?';
  const query = useInfiniteQuery<Reply, Error, InfiniteData<Reply, string | null>, unknown[], string | null>({
    queryKey: [current, path, 'list', ...editedKey(isEdited)],
    queryFn: ({ pageParam }) =>
      request<Reply>('GET', pageParam === null ? path : `${path}${join}cursor=${encodeURIComponent(pageParam)}`),
    initialPageParam: null,
    getNextPageParam: ({ pagination }) => pagination.nextCursor,
    enabled,
    ...(isEdited ? { gcTime: 0 } : {}),
    ...(keepsPrevious ? { placeholderData: keepPreviousData } : {}),
    ...(everyMs === undefined
      ? {}
      : { refetchInterval: ({ state }) => everyMs * Math.max(1, state.data?.pages.length ?? 1) }),
  });
  return { ...query, entities: query.data?.pages.flatMap(({ entities }) => entities) ?? [] };
}

/** Forms have a separate key: data with the same key is kept for the longest `gcTime` of its readers. */
const editedKey = (isEdited: boolean): readonly string[] => (isEdited ? ['edited'] : []);

/** A request that changes data. If it succeeds, the data shown is read again. */
export function useChange<Input, Reply>(
  change: (input: Input) => Promise<Reply>,
): UseMutationResult<Reply, Error, Input> {
  const client = useQueryClient();
  return useMutation({
    mutationFn: change,
    // Not awaited: a button finishes when its own request has finished, not when the data has been read again.
    onSuccess: () => void client.invalidateQueries(),
  });
}
