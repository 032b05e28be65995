// The log of requests. Bodies are not stored, and neither are their values.
import { type ApiRequest, getRequest, listRequests } from '@callsign/contract/requests'
import { listPage } from './pages.ts'
import type { ResendRoute } from './route.ts'

/** Our log has the program of a key instead of that of each request. */
const toItem = ({ id, created_at, path, method, status }: ApiRequest) => ({
  id,
  created_at,
  endpoint: path,
  method,
  response_status: status,
  user_agent: null,
})

export const logRoutes: ResendRoute[] = [
  {
    method: 'GET',
    path: '/logs',
    run: (request) => listPage(request, (query) => request.call(listRequests, { query }), toItem),
  },
  {
    method: 'GET',
    path: '/logs/:id',
    async run({ params, call }) {
      const entry = await call(getRequest, { params: { id: params.id as string } })
      return { object: 'log', ...toItem(entry), request_body: null, response_body: null }
    },
  },
]
