import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { UseInfiniteQueryResult, UseMutationResult, UseQueryResult } from '@tanstack/react-query';
import { useAccounts } from './accounts.ts';
import { request } from './request.ts';
import type { Page } from './types.ts';

export type ReadOptions = {
  /** Ms between two looks; without it one look is enough. */
  readonly everyMs?: number;
  readonly enabled?: boolean;
};

/** What the interface answers to a GET; undefined until it has. */
export function useRead<Reply>(path: string, { everyMs, enabled = true }: ReadOptions = {}): UseQueryResult<Reply> {
  const { current } = useAccounts();
  return useQuery<Reply>({
    queryKey: [current?.accountId, path],
    queryFn: () => request<Reply>('GET', path),
    enabled,
    ...(everyMs === undefined ? {} : { refetchInterval: everyMs }),
  });
}

/** A list, page by page. `path` is without cursor; what it answers may have a query. */
export function useList<Entity>(
  path: string,
  { everyMs, enabled = true }: ReadOptions = {},
): UseInfiniteQueryResult<{ readonly pages: readonly Page<Entity>[] }> & { readonly entities: readonly Entity[] } {
  const { current } = useAccounts();
  const join = path.includes('?') ? '&' : '?';
  const query = useInfiniteQuery({
    queryKey: [current?.accountId, path, 'list'],
    queryFn: ({ pageParam }) =>
      request<Page<Entity>>('GET', pageParam === null ? path : `${path}${join}cursor=${encodeURIComponent(pageParam)}`),
    initialPageParam: null as string | null,
    getNextPageParam: ({ pagination }) => pagination.nextCursor,
    enabled,
    ...(everyMs === undefined ? {} : { refetchInterval: everyMs }),
  });
  return { ...query, entities: query.data?.pages.flatMap(({ entities }) => entities) ?? [] };
}

/** A request that changes data: what is shown is read again afterwards. */
export function useChange<Input, Reply>(
  change: (input: Input) => Promise<Reply>,
): UseMutationResult<Reply, Error, Input> {
  const client = useQueryClient();
  return useMutation({
    mutationFn: change,
    // Not awaited: a button is done when its work is, not when all else is read again.
    onSuccess: () => void client.invalidateQueries(),
  });
}
