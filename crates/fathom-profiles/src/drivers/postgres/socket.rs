use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use crate::drivers::Address;

/// A connected socket of either kind.
#[derive(Debug)]
pub(crate) enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Socket {
    /// Connects.
    pub(crate) fn connect(address: &Address, limit: Duration) -> io::Result<Self> {
        match address {
            Address::Tcp { host, port } => {
                let stream = connect_to_any((host.as_str(), *port), limit)?;
                stream.set_nodelay(true)?;
                Ok(Self::Tcp(stream))
            }
            Address::Socket(path) => Ok(Self::Unix(UnixStream::connect(path)?)),
        }
    }

    /// How long a read or write may wait before it says so.
    pub(crate) fn set_wait(&self, wait: Duration) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => {
                stream.set_read_timeout(Some(wait))?;
                stream.set_write_timeout(Some(wait))
            }
            Self::Unix(stream) => {
                stream.set_read_timeout(Some(wait))?;
                stream.set_write_timeout(Some(wait))
            }
        }
    }

    /// Reads and writes return at once from now on.
    pub(crate) fn set_polled(&self) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.set_nonblocking(true),
            Self::Unix(stream) => stream.set_nonblocking(true),
        }
    }
}

fn connect_to_any(name: impl ToSocketAddrs, limit: Duration) -> io::Result<TcpStream> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    for address in name.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, limit) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}

impl Read for &Socket {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Socket::Tcp(stream) => (&mut &*stream).read(buffer),
            Socket::Unix(stream) => (&mut &*stream).read(buffer),
        }
    }
}

impl Write for &Socket {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        match self {
            Socket::Tcp(stream) => (&mut &*stream).write(buffer),
            Socket::Unix(stream) => (&mut &*stream).write(buffer),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Tcp(stream) => stream.as_fd(),
            Self::Unix(stream) => stream.as_fd(),
        }
    }
}

/// Whether an error only says that nothing has come yet.
pub(crate) fn is_wait(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), WouldBlock | TimedOut | Interrupted)
}
