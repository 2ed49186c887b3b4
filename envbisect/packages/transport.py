"""The HTTP session that an index configuration asks for: retries, proxy, and which certificates are believed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Self

from envbisect.packages.config import IndexConfig

if TYPE_CHECKING:
    from types import TracebackType

    import requests
    from urllib3.connectionpool import ConnectionPool

PARALLEL: Final = 16
RETRIES: Final = 3
SILENT_RETRIES: Final = 1
_BUSY: Final = (429, 500, 502, 503, 504)


def new_session(config: IndexConfig, *, retries: int = RETRIES) -> requests.Session:
    """A session for up to ``PARALLEL`` threads.

    Without a configured bundle the system's certificates are believed besides those of certifi: companies put their
    own authority there, and pip and uv believe it too.
    """
    import ssl

    import requests
    import urllib3
    from requests.adapters import HTTPAdapter

    class Patience(urllib3.Retry):
        """One more try after silence, as many as configured after anything else: silence costs the whole timeout."""

        def increment(
            self,
            method: str | None = None,
            url: str | None = None,
            response: urllib3.BaseHTTPResponse | None = None,
            error: Exception | None = None,
            _pool: ConnectionPool | None = None,
            _stacktrace: TracebackType | None = None,
        ) -> Self:
            silent = sum(isinstance(past.error, urllib3.exceptions.TimeoutError) for past in self.history)
            if error is not None and isinstance(error, urllib3.exceptions.TimeoutError) and silent >= SILENT_RETRIES:
                raise error
            return super().increment(method, url, response, error, _pool, _stacktrace)

    retry = Patience(
        total=retries,
        backoff_factor=0.5,
        status_forcelist=_BUSY,
        allowed_methods=("GET",),
        raise_on_status=False,
        respect_retry_after_header=False,  # it may say hours
    )

    class SystemTrust(HTTPAdapter):
        """certifi's certificates are added by requests itself."""

        def init_poolmanager(self, connections: int, maxsize: int, block: bool = False, **options: object) -> None:
            options["ssl_context"] = ssl.create_default_context()
            super().init_poolmanager(connections, maxsize, block, **options)

    plain = HTTPAdapter(pool_maxsize=PARALLEL, max_retries=retry)
    session = requests.Session()
    session.headers["User-Agent"] = "envbisect"
    session.mount("http://", plain)
    session.mount("https://", plain if config.ca_certificate else SystemTrust(pool_maxsize=PARALLEL, max_retries=retry))
    if config.trusted_hosts:
        urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
    for host in config.trusted_hosts:
        session.mount(f"https://{host}", plain)
    if config.proxy:
        session.proxies = {"http": config.proxy, "https": config.proxy}
    return session
